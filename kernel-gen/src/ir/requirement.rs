//! Requirements: what the tile sizes of a plan must satisfy beside fitting VTCM.

use std::fmt;

use super::{AxisId, Source, TunableId};

/// A number a requirement may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// The value of a tunable.
    Tunable(TunableId),
    /// The extent of an axis; of the token axis the bucket.
    Axis(AxisId),
    /// VTCM the plan is made for, in bytes.
    VtcmBytes,
}

/// `require mc * kc <= 65536;`
#[derive(Debug, Clone)]
pub struct Requirement {
    /// The condition as it was written.
    pub text: String,
    /// What it depends on.
    pub uses: Vec<Quantity>,
    /// The condition on the values of `uses`, in their order.
    pub holds: Condition,
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
        (self.0)(values) == Some(true)
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Condition(fn)")
    }
}
