//! Why a run stops.

use crate::adapter::AdapterError;
use crate::architecture::ArchitectureError;
use crate::memory::TooSmall;
use std::io;
use std::path::PathBuf;

/// A run that cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// No rows.
    #[error("there is nothing to train on: the data has no rows")]
    NoRows,
    /// No steps.
    #[error("there is nothing to do: ask for at least one step or epoch")]
    NoSteps,
    /// A step none of whose rows has a target.
    #[error(
        "step {step} has no target: every label of its rows (lines {lines}) is -100; drop these rows or take more rows a step. Nothing was trained"
    )]
    NoTarget {
        /// The step, counted from 0.
        step: usize,
        /// Its lines in the data file.
        lines: String,
    },
    /// The largest micro-batch does not fit the budget of its activations.
    #[error(transparent)]
    Activations(#[from] TooSmall),
    /// A step failed.
    #[error("step {step}: {source}")]
    Step {
        /// The step, counted from 0.
        step: usize,
        /// Why.
        source: ArchitectureError,
    },
    /// Loss or gradient is NaN or infinite.
    #[error(
        "step {step}: the {what} is {value}; training has diverged or the data is not sound: lower --lr, \
         clip harder or look at lines {lines}. The adapter was not changed by this step; {saved}"
    )]
    NotFinite {
        /// The step, counted from 0.
        step: usize,
        /// Loss or gradient norm.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The step's lines in the data file.
        lines: String,
        /// What is on disk.
        saved: String,
    },
    /// An update made the adapter NaN or infinite.
    #[error(
        "step {step}: the update at learning rate {lr:e} made the adapter infinite or NaN; lower --lr or raise --eps. \
         It was not saved: {saved}"
    )]
    Diverged {
        /// The step, counted from 0.
        step: usize,
        /// Its learning rate.
        lr: f64,
        /// What is on disk.
        saved: String,
    },
    /// The adapter could not be saved.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// The run folder cannot be used.
    #[error("{}: {source}; choose another --out or free some space", path.display())]
    Folder {
        /// Folder or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
