//! The Llama architecture (signatures; bodies follow).
use super::{ArchitectureError, BatchLoss, KvCache, Segment, Sequence, StepOptions};
use crate::adapter::{Adapter, AdapterGrads, ProjectionShape};
use crate::model_file::{ModelConfig, ModelFile};
use hexagon_runtime::{Runtime, RuntimeBuilder};

/// A frozen Llama-shaped model.
pub struct Llama {}

impl Llama {
    /// Registers the projections with `builder` (HF names minus `.weight`) and keeps embeddings and norms.
    pub fn load(model: &ModelFile, builder: &mut RuntimeBuilder) -> Result<Llama, ArchitectureError> { unimplemented!() }
    /// The model's configuration.
    pub fn config(&self) -> &ModelConfig { unimplemented!() }
    /// Name and shape of every projection, in model order.
    pub fn projections(&self) -> &[ProjectionShape] { unimplemented!() }
    /// Summed loss of a micro-batch; adds `loss_scale` times its gradient to `grads`.
    pub fn loss_and_grad(&self, runtime: &mut Runtime, adapter: &Adapter, batch: &[Sequence], options: &StepOptions, grads: &mut AdapterGrads) -> Result<BatchLoss, ArchitectureError> { unimplemented!() }
    /// Summed loss only (evaluation).
    pub fn loss(&self, runtime: &mut Runtime, adapter: Option<&Adapter>, batch: &[Sequence]) -> Result<BatchLoss, ArchitectureError> { unimplemented!() }
    /// Logits `[tokens, vocab]`.
    pub fn logits(&self, runtime: &mut Runtime, adapter: Option<&Adapter>, batch: &[Sequence]) -> Result<Vec<f32>, ArchitectureError> { unimplemented!() }
    /// Gradient of sum(logits · cotangent); returns the embedding output's gradient.
    pub fn grad_from_cotangent(&self, runtime: &mut Runtime, adapter: &Adapter, batch: &[Sequence], cotangent: &[f32], options: &StepOptions, grads: &mut AdapterGrads) -> Result<Vec<f32>, ArchitectureError> { unimplemented!() }
    /// Final-normed hidden rows of all segments, in order; appends their keys and values to `cache`.
    pub fn infer(&self, runtime: &mut Runtime, adapter: Option<&Adapter>, segments: &[Segment<'_>], cache: &mut KvCache) -> Result<Vec<f32>, ArchitectureError> { unimplemented!() }
    /// log p of the wanted token ids of each hidden row.
    pub fn log_probs(&self, hidden: &[f32], wanted: &[Vec<u32>]) -> Vec<Vec<f32>> { unimplemented!() }
    /// Logits of one hidden row.
    pub fn head_logits(&self, hidden_row: &[f32]) -> Vec<f32> { unimplemented!() }
}
