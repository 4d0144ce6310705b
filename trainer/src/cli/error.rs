//! Everything a command can end with.

use std::io;
use std::path::PathBuf;

use hexagon_runtime::RuntimeError;

use super::kernel::KernelError;
use crate::adapter::AdapterError;
use crate::architecture::ArchitectureError;
use crate::data::DataError;
use crate::demo::{FetchError, TagDataError};
use crate::eval::EvalError;
use crate::model_file::ModelError;
use crate::plan::PlanFailure;
use crate::registry::UnknownPreset;
use crate::synth::SynthError;
use crate::text::TextError;
use crate::timeline::TimelineError;
use crate::train::TrainError;

/// A command that could not do its work.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// f32 weights asked of the NPU.
    #[error(
        "--precision f32 needs --device cpu: the NPU multiplies 16-bit floats. Use --precision f16, q8 or auto there"
    )]
    FloatOnNpu,
    /// Text data for a model without tokenizer.
    #[error(
        "{} has no tokenizer, so text cannot be read: add tokenizer.json to the folder, or give rows with `input_ids` and \
         `labels`", path.display()
    )]
    NoTokenizer {
        /// The model.
        path: PathBuf,
    },
    /// No target in the evaluation data.
    #[error("{}: no row has a target, so there is no loss to print: give rows with labels other than -100", path.display())]
    NoTargets {
        /// The data.
        path: PathBuf,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}. Check the path, its permissions and the free space", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Tag data in disorder.
    #[error("{}: {source}", path.display())]
    TagData {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: TagDataError,
    },
    /// What a command prints is lost.
    #[error("standard output: {reason}. What was printed is incomplete: free space, or print to another place")]
    Output {
        /// What the system said.
        reason: String,
    },
    /// No model to plan.
    #[error("give --preset NAME or --config config.json")]
    NoShape,
    /// A report that cannot be written as JSON.
    #[error("the report cannot be written as JSON: {0}. Leave --json out")]
    Json(serde_json::Error),
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    #[error(transparent)]
    BundledData(#[from] TagDataError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Eval(#[from] EvalError),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Plan(#[from] PlanFailure),
    #[error(transparent)]
    Preset(#[from] UnknownPreset),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Synth(#[from] SynthError),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error(transparent)]
    Timeline(#[from] TimelineError),
    #[error(transparent)]
    Train(#[from] TrainError),
}
