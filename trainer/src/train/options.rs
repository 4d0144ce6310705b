//! Settings of a run.

use crate::architecture::Activations;
use crate::optimizer::{AdamWOptions, Schedule};
use crate::timeline::Recorder;
use std::sync::Arc;

/// Tokens of one micro-batch unless told otherwise.
pub const DEFAULT_MICRO_TOKENS: usize = 640;

/// Settings of the training loop (model, adapter and device are opened before it).
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// Rows of one accumulation part.
    pub batch_rows: usize,
    /// Parts whose gradients add up to one optimizer step.
    pub accumulate: usize,
    /// Draw a new order of rows every epoch, or take them as they come.
    pub shuffle: bool,
    /// Optimizer steps; wins over `epochs`.
    pub steps: Option<usize>,
    /// Passes over the data.
    pub epochs: usize,
    /// Optimizer settings.
    pub adamw: AdamWOptions,
    /// Largest gradient norm; None = no clipping.
    pub clip: Option<f64>,
    /// Learning-rate schedule.
    pub schedule: Schedule,
    /// Warm-up steps.
    pub warmup_steps: usize,
    /// The schedule ends at this part of the learning rate.
    pub min_lr_ratio: f64,
    /// Seed of the row order and the dropout masks.
    pub seed: u64,
    /// Store or recompute activations.
    pub activations: Activations,
    /// Overlap CPU work with NPU requests.
    pub overlap: bool,
    /// Save the adapter every so many steps.
    pub save_every: Option<usize>,
    /// A micro-batch takes rows up to this many tokens (a longer row goes alone).
    pub micro_tokens: usize,
    /// Draw a progress bar on stderr.
    pub progress: bool,
    /// Takes what ran when.
    pub timeline: Option<Arc<Recorder>>,
}

impl Default for TrainOptions {
    fn default() -> Self {
        TrainOptions {
            batch_rows: 8,
            accumulate: 1,
            shuffle: true,
            steps: None,
            epochs: 1,
            adamw: AdamWOptions::default(),
            clip: Some(1.0),
            schedule: Schedule::Cosine,
            warmup_steps: 0,
            min_lr_ratio: 0.0,
            seed: 0,
            activations: Activations::Store,
            overlap: true,
            save_every: None,
            micro_tokens: DEFAULT_MICRO_TOKENS,
            progress: true,
            timeline: None,
        }
    }
}
