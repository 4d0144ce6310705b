//! The training run: folder, loop, metrics.

mod batches;
mod error;
mod metrics;
mod options;
mod progress;
mod run;

pub use error::TrainError;
pub use options::{TrainOptions, DEFAULT_MICRO_TOKENS};
pub use run::{TrainReport, run};
