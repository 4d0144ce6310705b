//! The training run: folder, loop, metrics.

mod batches;
mod error;
mod metrics;
mod options;
mod progress;
mod run;

pub use error::TrainError;
pub use metrics::StepMetrics;
pub use options::{DEFAULT_MICRO_TOKENS, TrainOptions};
pub use run::{Run, TrainReport, run};
