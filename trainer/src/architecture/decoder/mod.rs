//! The decoder that every architecture is a case of: embedding, layers, final norm, tied or untied head.

mod inference;
mod training;

use super::ArchitectureError;
use super::batch::Sequence;
use super::layer::Layer;
use super::load::Loader;
use super::norm::Norm;
use super::pass::Pass;
use super::targets::spans;
use crate::adapter::{Adapter, ProjectionShape};
use crate::memory::Loading;
use crate::model_file::ModelFile;
use crate::nodes::{DropoutKey, EmbeddingTable, Rotation, inverse_frequencies};
use crate::registry::{ModelConfig, PrecisionPolicy};
use crate::weight_cache::WeightCache;
use hexagon_runtime::{Runtime, RuntimeBuilder};
use std::ops::Range;
use std::sync::Arc;

/// A frozen decoder-only model. Its projections live in the [`Runtime`], embedding, head and norms
/// here.
pub struct Decoder {
    config: ModelConfig,
    projections: Vec<ProjectionShape>,
    frequencies: Vec<f64>,
    embedding: EmbeddingTable,
    /// None if the embedding is the head.
    head: Option<EmbeddingTable>,
    final_norm: Norm,
    layers: Vec<Layer>,
    loading_peak: u64,
}

impl Decoder {
    /// Registers every projection with `builder` under its HF name without `.weight`, in the policy's precision.
    pub fn load(
        model: &ModelFile,
        builder: &mut RuntimeBuilder,
        policy: PrecisionPolicy,
    ) -> Result<Decoder, ArchitectureError> {
        Decoder::load_cached(model, builder, policy, &mut WeightCache::off())
    }

    /// As [`Decoder::load`], with the Q8 weights that `cache` has; those it lacks are noted there.
    pub fn load_cached(
        model: &ModelFile,
        builder: &mut RuntimeBuilder,
        policy: PrecisionPolicy,
        cache: &mut WeightCache,
    ) -> Result<Decoder, ArchitectureError> {
        let config = model.config.clone();
        let (tensors, loading) = (model.tensors.as_ref(), Loading::default());
        let mut loader = Loader { config: &config, tensors, builder, policy, cache, loading };
        let head = if config.tied_head { None } else { Some(loader.table("lm_head.weight")?) };
        // Tables are widened as they are read: before the layers are here, that is no peak.
        let embedding = loader.table("model.embed_tokens.weight")?;
        let layers = (0..config.layers).map(|index| loader.layer(index)).collect::<Result<Vec<_>, _>>()?;
        Ok(Decoder {
            projections: layers.iter().flat_map(|layer| layer.projections().cloned()).collect(),
            frequencies: inverse_frequencies(&config.rope, config.rotary_dim),
            embedding,
            head,
            final_norm: loader.norm("model.norm", config.hidden)?,
            layers,
            loading_peak: loader.loading.peak(),
            config,
        })
    }

    /// The model's configuration.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Name and shape of every projection, in model order.
    pub fn projections(&self) -> &[ProjectionShape] {
        &self.projections
    }

    /// Bytes of embedding and head, as they are kept.
    pub fn table_bytes(&self) -> usize {
        self.embedding.bytes() + self.head.as_ref().map_or(0, EmbeddingTable::bytes)
    }

    /// Most bytes that were held at once while the model was loaded, by the sizes of what was read and made.
    pub fn loading_peak(&self) -> u64 {
        self.loading_peak
    }

    fn head(&self) -> &EmbeddingTable {
        self.head.as_ref().unwrap_or(&self.embedding)
    }

    fn embed(&self, batch: &[Sequence]) -> Vec<f32> {
        let tokens: usize = batch.iter().map(|s| s.ids.len()).sum();
        let mut x = vec![0.0; tokens * self.config.hidden];
        self.embedding.gather(batch.iter().flat_map(|s| s.ids.iter().copied()), &mut x);
        x
    }

    fn rotation(&self, batch: &[Sequence]) -> Rotation {
        let positions = batch.iter().flat_map(|s| s.position..s.position + s.ids.len());
        Rotation::new(&self.frequencies, positions)
    }

    fn inference_pass<'a>(
        &self,
        runtime: &'a mut Runtime,
        adapter: Option<&'a Adapter>,
        batch: &[Sequence],
    ) -> Pass<'a> {
        frozen_pass(runtime, adapter, spans(batch.iter().map(|s| s.ids.len())), self.rotation(batch))
    }

    fn final_normed(&self, x: &[f32]) -> Vec<f32> {
        self.final_norm.apply(x)
    }

    /// The given rows of `x`, and the same normed.
    fn normed_rows(&self, x: &[f32], rows: &[usize]) -> (Vec<f32>, Vec<f32>) {
        let hidden = self.config.hidden;
        let picked: Vec<f32> = rows.iter().flat_map(|row| &x[row * hidden..][..hidden]).copied().collect();
        let normed = self.final_normed(&picked);
        (picked, normed)
    }
}

fn frozen_pass<'a>(
    runtime: &'a mut Runtime,
    adapter: Option<&'a Adapter>,
    spans: Vec<Range<usize>>,
    rotation: Rotation,
) -> Pass<'a> {
    Pass {
        runtime,
        adapter,
        training: false,
        overlap: true,
        dropout: DropoutKey::default(),
        tokens: spans.last().map_or(0, |s| s.end),
        spans,
        rotation: Arc::new(rotation),
    }
}
