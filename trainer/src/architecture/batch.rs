//! What a training or inference call works on.

use super::tape::Activations;
use crate::nodes::DropoutKey;
use std::ops::Range;

/// The label of a token that is not a target.
pub const NO_TARGET: i32 = -100;

/// One row of training data. A batch packs sequences one after the other, without padding, so
/// that padding cannot change a bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Token ids, each below the vocabulary size.
    pub ids: Vec<u32>,
    /// One label per token, −100 = no target. Not shifted: the token at `t` is predicted at `t−1`.
    pub labels: Vec<i32>,
    /// Rope position of the first token (0 but for left-padded references).
    pub position: usize,
}

impl Sequence {
    /// Number of targets: labels other than −100, the first token's excepted (nothing predicts it).
    pub fn targets(&self) -> usize {
        self.labels.iter().skip(1).filter(|&&l| l != NO_TARGET).count()
    }
}

/// A run of new tokens at inference.
#[derive(Clone, Debug)]
pub struct Segment<'a> {
    /// Token ids.
    pub ids: &'a [u32],
    /// Rope position of the first of them.
    pub position: usize,
    /// Cache rows the segment sees before its own tokens, which are causal among themselves.
    pub context: Vec<Range<usize>>,
}

/// How one micro-batch is computed. None of these but `loss_scale` and `dropout` changes a bit of
/// the result.
#[derive(Clone, Copy, Debug)]
pub struct StepOptions {
    /// Factor on the summed loss before differentiation: 1 / (targets of the optimizer step).
    pub loss_scale: f32,
    /// Keep a layer's activations for the backward pass, or compute them again.
    pub activations: Activations,
    /// Compute adapters on the CPU while the NPU request is in flight, or after it.
    pub overlap: bool,
    /// Where the dropout masks of this micro-batch come from.
    pub dropout: DropoutKey,
    /// Also give the gradient of the embedding output.
    pub inputs_embeds_grad: bool,
}

impl Default for StepOptions {
    fn default() -> Self {
        StepOptions {
            loss_scale: 1.0,
            activations: Activations::Store,
            overlap: true,
            dropout: DropoutKey::default(),
            inputs_embeds_grad: false,
        }
    }
}

/// What a micro-batch gives beside the adapter's gradients.
#[derive(Clone, Debug)]
pub struct BatchLoss {
    /// Sum of −log p over the targets (not scaled).
    pub sum_nll: f64,
    /// Number of targets.
    pub targets: usize,
    /// Gradient of the embedding output, `[tokens, hidden]`, if it was asked for.
    pub inputs_embeds_grad: Option<Vec<f32>>,
}
