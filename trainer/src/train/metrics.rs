//! `metrics.jsonl`: one line a step.

use super::error::TrainError;
use hexagon_runtime::Counters;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// One optimizer step.
#[derive(Clone, Debug, Serialize)]
pub struct StepMetrics {
    /// Step, counted from 0.
    pub step: usize,
    /// Mean −log p over the step's targets, before the update.
    pub loss: f64,
    /// Learning rate.
    pub lr: f64,
    /// Norm of the gradient before clipping.
    pub grad_norm: f64,
    /// Tokens of the step's rows.
    pub tokens: usize,
    /// Targets among them.
    pub targets: usize,
    /// Wall time.
    pub seconds: f64,
    /// Forward requests answered by the NPU.
    pub npu_forward: u64,
    /// Input-gradient requests answered by the NPU.
    pub npu_input_grad: u64,
    /// Rows sent again with a smaller scale.
    pub rows_retried: u64,
    /// Rows that overflowed on every retry and were computed by the CPU.
    pub rows_to_cpu: u64,
    /// Requests that went to the CPU though the NPU was asked for.
    pub fallbacks: u64,
}

impl StepMetrics {
    /// Takes the counters' growth over the step.
    pub(super) fn count(mut self, before: Counters, after: Counters) -> Self {
        self.npu_forward = after.forward - before.forward;
        self.npu_input_grad = after.input_grad - before.input_grad;
        self.rows_retried = after.rows_retried - before.rows_retried;
        self.rows_to_cpu = after.rows_to_cpu - before.rows_to_cpu;
        self.fallbacks = after.fallbacks - before.fallbacks;
        self
    }
}

/// The file, written line by line so that it can be followed.
pub(super) struct MetricsFile {
    path: PathBuf,
    file: File,
}

impl MetricsFile {
    pub fn create(path: PathBuf) -> Result<Self, TrainError> {
        match File::create(&path) {
            Ok(file) => Ok(MetricsFile { path, file }),
            Err(source) => Err(TrainError::Folder { path, source }),
        }
    }

    pub fn write(&mut self, metrics: &StepMetrics) -> Result<(), TrainError> {
        let line = serde_json::to_string(metrics).map_err(std::io::Error::from);
        let written = line.and_then(|line| self.file.write_all(format!("{line}\n").as_bytes()));
        written.map_err(|source| TrainError::Folder { path: self.path.clone(), source })
    }
}
