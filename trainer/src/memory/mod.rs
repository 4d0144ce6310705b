//! The memory a training step takes, known before it starts: how much the system has, how much of it activations may
//! take, which layers are stored and which are computed again, and what the step will need at its peak. Everything but
//! [`available`] and [`PeakMemory`], which says what was needed in the end, is a pure function of sizes.

mod available;
mod budget;
mod choice;
mod layer;
mod loading;
mod measured;
mod peak;

pub use available::available;
pub use budget::{ActivationBudget, BudgetError, DEFAULT_SHARE, cap};
pub use choice::{Choice, LayerBytes, TooSmall, choose};
pub use layer::{Buffer, LayerActivations, LayerKind, layer_activations, layer_bytes};
pub use loading::{Loading, loading_bytes, piece_beside, values_beside};
pub use measured::PeakMemory;
pub use peak::{Held, PeakPart, head_bytes, layer_gradient_bytes, peak_parts, request_bytes};
