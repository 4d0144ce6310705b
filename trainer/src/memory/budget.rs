//! How many bytes activations may take.

use std::fmt;
use std::str::FromStr;

use bytesize::ByteSize;

use crate::architecture::Activations;

/// Share of the available memory that activations may take when nobody sets a figure. The rest is for gradients in
/// flight, the head's chunk, request buffers and whatever else runs on the machine.
pub const DEFAULT_SHARE: f64 = 0.6;

/// What the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivationBudget {
    /// Store every layer, whatever it takes.
    Store,
    /// Store no layer: compute each again in the backward pass.
    Recompute,
    /// A share of what is available when the run starts.
    Available,
    /// So many bytes, or the share of what is available if that is less.
    Bytes(u64),
}

/// A budget that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no budget: write store, recompute, auto, or a size such as 800MB, 8GB or 6GiB")]
pub struct BudgetError {
    /// What was given.
    pub text: String,
}

impl FromStr for ActivationBudget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<ActivationBudget, BudgetError> {
        match text {
            "store" => Ok(ActivationBudget::Store),
            "recompute" => Ok(ActivationBudget::Recompute),
            "auto" => Ok(ActivationBudget::Available),
            size => match size.parse::<ByteSize>() {
                Ok(size) if size.as_u64() > 0 => Ok(ActivationBudget::Bytes(size.as_u64())),
                _ => Err(BudgetError { text: text.to_owned() }),
            },
        }
    }
}

impl fmt::Display for ActivationBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ActivationBudget::Store => f.pad("store"),
            ActivationBudget::Recompute => f.pad("recompute"),
            ActivationBudget::Available => f.pad("auto"),
            ActivationBudget::Bytes(bytes) => f.pad(&format!("{bytes} bytes")),
        }
    }
}

impl ActivationBudget {
    /// What it comes to with `available` bytes of memory left for the step (`None`: not known, then only a figure of the
    /// user's limits).
    pub fn activations(self, available: Option<u64>) -> Activations {
        let within =
            |configured| cap(configured, available, DEFAULT_SHARE).map_or(Activations::Store, Activations::Within);
        match self {
            ActivationBudget::Store => Activations::Store,
            ActivationBudget::Recompute => Activations::Recompute,
            ActivationBudget::Available => within(None),
            ActivationBudget::Bytes(bytes) => within(Some(bytes)),
        }
    }
}

/// Bytes activations may take: the least of what was configured and `share` of what is available. `None`: no limit is
/// known.
pub fn cap(configured: Option<u64>, available: Option<u64>, share: f64) -> Option<u64> {
    let granted = available.map(|bytes| (bytes as f64 * share.clamp(0.0, 1.0)) as u64);
    configured.into_iter().chain(granted).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lesser_of_both_limits_holds() {
        assert_eq!(cap(Some(900), Some(1000), 0.5), Some(500));
        assert_eq!(cap(Some(400), Some(1000), 0.5), Some(400));
        assert_eq!(cap(None, Some(1000), 0.5), Some(500));
        assert_eq!(cap(Some(400), None, 0.5), Some(400));
        assert_eq!(cap(None, None, 0.5), None);
    }

    #[test]
    fn words_are_extremes_and_sizes_are_held_against_what_there_is() {
        assert_eq!(ActivationBudget::Store.activations(Some(10)), Activations::Store);
        assert_eq!(ActivationBudget::Recompute.activations(None), Activations::Recompute);
        assert_eq!(ActivationBudget::Available.activations(Some(1000)), Activations::Within(600));
        assert_eq!(ActivationBudget::Available.activations(None), Activations::Store);
        assert_eq!(ActivationBudget::Bytes(900).activations(Some(1000)), Activations::Within(600));
        assert_eq!(ActivationBudget::Bytes(400).activations(Some(1000)), Activations::Within(400));
    }

    #[test]
    fn sizes_and_words_are_read() {
        let read = |text: &str| text.parse::<ActivationBudget>();
        assert_eq!(read("8GB"), Ok(ActivationBudget::Bytes(8_000_000_000)));
        assert_eq!(read("1.5 GiB"), Ok(ActivationBudget::Bytes(3 << 29)));
        assert_eq!(read("4096"), Ok(ActivationBudget::Bytes(4096)));
        assert_eq!(read("store"), Ok(ActivationBudget::Store));
        assert_eq!(read("auto"), Ok(ActivationBudget::Available));
        for wrong in ["", "0", "-1", "much", "8XB"] {
            assert!(read(wrong).unwrap_err().to_string().contains("8GB"), "{wrong}");
        }
    }
}
