//! The network: the frozen graph around the NPU's projections, forward and backward. What an architecture is made of
//! says [`crate::registry`]; the parts are here, each once.

mod adapted;
mod attention_mixer;
mod batch;
mod cache;
mod decoder;
mod delta_mixer;
mod layer;
mod load;
mod mlp;
mod norm;
mod pass;
mod tape;
mod targets;

pub use batch::{BatchLoss, NO_TARGET, Segment, Sequence, StepOptions};
pub use cache::ContextCache;
pub use decoder::Decoder;
pub use tape::Activations;

use crate::memory::TooSmall;
use crate::model_file::ModelError;
use hexagon_runtime::RuntimeError;

/// What can go wrong between a batch and its gradient.
#[derive(Debug, thiserror::Error)]
pub enum ArchitectureError {
    /// The model file could not give a tensor.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The runtime refused or failed a projection.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The batch's activations do not fit their budget.
    #[error(transparent)]
    Activations(#[from] TooSmall),
    /// A tensor of the model has an unexpected shape.
    #[error(
        "tensor `{name}` is {found:?}, the configuration says {expected:?}: the file is damaged \
         or its config belongs to another model"
    )]
    Shape {
        /// Canonical tensor name.
        name: String,
        /// Shape in the file.
        found: Vec<usize>,
        /// Shape by the configuration.
        expected: Vec<usize>,
    },
    /// A tensor is missing from the model.
    #[error("tensor `{name}` is missing from the model file: download the model again")]
    Missing {
        /// Canonical tensor name.
        name: String,
    },
    /// A token id or label beyond the vocabulary.
    #[error(
        "token id {id} is outside the model's vocabulary of {vocab}: the data was tokenised for \
         another model"
    )]
    TokenOutOfRange {
        /// The id or label.
        id: i64,
        /// Vocabulary size.
        vocab: usize,
    },
    /// A sequence has as many labels as tokens, or it is a mistake.
    #[error("a sequence has {ids} tokens and {labels} labels: give one label per token")]
    LabelCount {
        /// Number of token ids.
        ids: usize,
        /// Number of labels.
        labels: usize,
    },
    /// A position beyond what the model was made for.
    #[error(
        "position {position} is beyond the model's {max} positions: cut the text or lower \
         --max-tokens"
    )]
    TooLong {
        /// First position out of range.
        position: usize,
        /// The model's limit.
        max: usize,
    },
    /// A segment names cache rows nobody has filled.
    #[error("a segment reads cache rows {start}..{end}, the cache has {rows} before it")]
    Context {
        /// First row named.
        start: usize,
        /// One past the last row named.
        end: usize,
        /// Rows filled before the segment's own.
        rows: usize,
    },
    /// A recurrent layer cannot go on from a row.
    #[error(
        "no state was kept at row {row} of the cache: recurrent layers go on from the end of a segment of the same call, \
         of the call before, or from a pinned end"
    )]
    NoState {
        /// The last row of the segment's context, plus one.
        row: usize,
    },
    /// A cotangent has another shape than the logits.
    #[error("the cotangent has {found} values, the logits have {expected}")]
    Cotangent {
        /// Values given.
        found: usize,
        /// Values expected (tokens × vocabulary).
        expected: usize,
    },
}
