//! Requirements: what the tile sizes of a plan must satisfy beside fitting VTCM.

use std::fmt;

use super::{AxisId, Kernel, Source, TunableId, WindowId};

/// A number a requirement may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// The value of a tunable.
    Tunable(TunableId),
    /// The extent of an axis that is not the token axis.
    Axis(AxisId),
    /// VTCM the plan is made for, in bytes.
    VtcmBytes,
    /// What all stages of a window take, in bytes.
    WindowBytes(WindowId),
}

impl Quantity {
    /// The tunables it depends on.
    pub fn tunables(self, kernel: &Kernel) -> Vec<TunableId> {
        match self {
            Quantity::Tunable(tunable) => vec![tunable],
            Quantity::WindowBytes(window) => {
                kernel.windows.get(window.0).map(|w| w.extents.to_vec()).unwrap_or_default()
            }
            Quantity::Axis(_) | Quantity::VtcmBytes => Vec::new(),
        }
    }
}

/// `require mc * kc <= 65536;`: a condition without `&&` around it.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// The condition as it was written.
    pub text: String,
    /// What it depends on.
    pub uses: Vec<Quantity>,
    /// The condition on the values of `uses`, in their order.
    pub holds: Condition,
    /// If the condition is a comparison, what is compared.
    pub sides: Option<Sides>,
    /// Where it is written.
    pub source: Source,
}

/// A condition on some numbers; `None` where its arithmetic leaves `u64` or divides by zero.
#[derive(Clone, Copy)]
pub struct Condition(fn(&[u64]) -> Option<bool>);

impl Condition {
    /// Wraps the function that decides it.
    pub const fn new(holds: fn(&[u64]) -> Option<bool>) -> Self {
        Self(holds)
    }

    /// Whether it holds. Arithmetic without a value does not.
    pub fn of(&self, values: &[u64]) -> bool {
        self.value(values) == Some(true)
    }

    /// As [`Condition::of`], but `None` for arithmetic without a value.
    pub fn value(&self, values: &[u64]) -> Option<bool> {
        (self.0)(values)
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Condition(fn)")
    }
}

/// The two sides of a comparison; `None` for one whose arithmetic leaves `u64` or divides by zero.
#[derive(Clone, Copy)]
pub struct Sides(fn(&[u64]) -> [Option<u64>; 2]);

impl Sides {
    /// Wraps the function that computes them.
    pub const fn new(sides: fn(&[u64]) -> [Option<u64>; 2]) -> Self {
        Self(sides)
    }

    /// Both, for the values of a requirement's `uses`.
    pub fn of(&self, values: &[u64]) -> [Option<u64>; 2] {
        (self.0)(values)
    }
}

impl fmt::Debug for Sides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sides(fn)")
    }
}
