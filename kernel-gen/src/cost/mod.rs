//! What a kernel does under a plan, counted from the IR, and what that would cost on the hardware, predicted.
//!
//! Counts are exact: the functional model counts the same numbers in a run. Predictions come from published or inferred
//! constants, each with its source; no phone has run these kernels.

mod constants;
mod counts;
mod predict;
mod walk;

pub use constants::{Certainty, Constant, Machine};
pub use counts::{Counts, StepCost};
pub use predict::{Bound, Prediction, predict};
pub(crate) use walk::label;
pub use walk::{Cost, cost};

use crate::{
    Verified,
    ir::{AxisId, TunableId},
};

/// The axis a kernel sums over.
pub fn contraction_axis(kernel: &Verified) -> AxisId {
    kernel.facts().contraction
}

/// The tunable that tiles an axis.
pub fn tile_of(kernel: &Verified, axis: AxisId) -> Option<TunableId> {
    kernel.facts().tile_of.get(axis.0).copied()
}
