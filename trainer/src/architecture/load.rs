//! Takes a model from its file: projections to the runtime, the rest stays here.

use super::ArchitectureError;
use super::adapted::Frozen;
use super::attention_mixer::AttentionMixer;
use super::delta_mixer::DeltaMixer;
use super::layer::{Layer, Mixer};
use super::mlp::Mlp;
use super::norm::Norm;
use crate::adapter::ProjectionShape;
use crate::memory::{Loading, piece_beside, values_beside};
use crate::model_file::TensorSource;
use crate::nodes::{AttentionShape, DeltaShape, DeltaWeights, EmbeddingTable};
use crate::registry::{DeltaNet, ModelConfig, NormWeight, PrecisionPolicy, Projection};
use crate::weight_cache::WeightCache;
use hexagon_runtime::{Precision, ProjectionId, RuntimeBuilder, WeightData};
use std::array;

/// What a model is loaded from and to.
pub(super) struct Loader<'a> {
    pub config: &'a ModelConfig,
    pub tensors: &'a dyn TensorSource,
    pub builder: &'a mut RuntimeBuilder,
    pub policy: PrecisionPolicy,
    pub cache: &'a mut WeightCache,
    pub loading: Loading,
}

impl Loader<'_> {
    fn check(&self, name: &str, expected: &[usize]) -> Result<(), ArchitectureError> {
        let found = self.tensors.shape(name).ok_or_else(|| ArchitectureError::Missing { name: name.to_owned() })?;
        if found != expected {
            return Err(ArchitectureError::Shape { name: name.to_owned(), found, expected: expected.to_vec() });
        }
        Ok(())
    }

    fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ArchitectureError> {
        self.check(name, shape)?;
        Ok(self.tensors.read_f32(name)?)
    }

    /// A norm of the residual stream or of heads.
    pub fn norm(&self, name: &str, len: usize) -> Result<Norm, ArchitectureError> {
        let mut weight = self.values(&format!("{name}.weight"), &[len])?;
        if self.config.architecture.description().norm == NormWeight::OnePlus {
            weight.iter_mut().for_each(|w| *w += 1.0);
        }
        Ok(Norm { weight, eps: self.config.norm_eps })
    }

    /// The embedding or the head, `[vocab, hidden]`.
    pub fn table(&mut self, name: &str) -> Result<EmbeddingTable, ArchitectureError> {
        let (rows, width) = (self.config.vocab, self.config.hidden);
        self.check(name, &[rows, width])?;
        let table = match self.tensors.q8_0_blocks(name)? {
            Some(blocks) => EmbeddingTable::from_q8_0(blocks, rows, width),
            None => EmbeddingTable::from_stream(rows, width, |take| self.tensors.stream_f32(name, take))?,
        };
        self.loading.take(table.bytes() as u64, piece_beside(rows * width));
        Ok(table)
    }

    fn frozen(&mut self, projection: Projection) -> Result<Frozen, ArchitectureError> {
        let Projection { name, rows, cols, kind } = &projection;
        let tensor = format!("{name}.weight");
        self.check(&tensor, &[*rows, *cols])?;
        let precision = self.policy.of(*kind);
        let id = self.resident(name, &tensor, (*rows, *cols), precision)?;
        let bias = format!("{name}.bias");
        let bias = match self.tensors.shape(&bias) {
            Some(_) => Some(self.values(&bias, &[*rows])?),
            None => None,
        };
        Ok(Frozen { id, bias, shape: ProjectionShape::from(projection) })
    }

    /// Makes a projection resident: from the cache, else from the checkpoint.
    fn resident(
        &mut self,
        name: &str,
        tensor: &str,
        (rows, cols): (usize, usize),
        precision: Precision,
    ) -> Result<ProjectionId, ArchitectureError> {
        let before = self.builder.resident_bytes();
        let cached = if precision == Precision::Q8 { self.cache.tiles(name, rows, cols) } else { None };
        let (id, beside) = if let Some(tiles) = cached {
            (self.builder.add_tiles(name, tiles)?, 0)
        } else if let Some(blocks) = self.tensors.q8_0_blocks(tensor)? {
            let id = self.builder.add_as(name, rows, cols, WeightData::Q8Blocks(&blocks), precision)?;
            (id, blocks_beside(&blocks, rows * cols, precision))
        } else {
            let values = self.tensors.read_f32(tensor)?;
            let id = self.builder.add_as(name, rows, cols, WeightData::F32(&values), precision)?;
            if precision == Precision::Q8 {
                self.cache.quantised(name);
            }
            (id, values_beside(values.len()))
        };
        self.loading.take((self.builder.resident_bytes() - before) as u64, beside);
        Ok(id)
    }

    /// Layer `index`, its projections registered in model order.
    pub fn layer(&mut self, index: usize) -> Result<Layer, ArchitectureError> {
        self.builder.next_group();
        let projections = self.config.layer_projections(index).into_iter();
        let frozen = projections.map(|projection| self.frozen(projection)).collect::<Result<Vec<_>, _>>()?;
        let prefix = format!("model.layers.{index}");
        let mut frozen = frozen.into_iter();
        let mixer = match self.config.recurrent(index) {
            Some(delta) => Mixer::DeltaNet(self.delta_mixer(&prefix, delta, &mut frozen)?),
            None => Mixer::Attention(self.attention_mixer(&prefix, &mut frozen)?),
        };
        let mlp = Mlp { gate_up: take(&mut frozen), down: next(&mut frozen) };
        Ok(Layer {
            index,
            input_norm: self.norm(&format!("{prefix}.input_layernorm"), self.config.hidden)?,
            mixer,
            post_norm: self.norm(&format!("{prefix}.post_attention_layernorm"), self.config.hidden)?,
            mlp,
        })
    }

    fn attention_mixer(
        &self,
        prefix: &str,
        frozen: &mut impl Iterator<Item = Frozen>,
    ) -> Result<AttentionMixer, ArchitectureError> {
        let ModelConfig { heads, kv_heads, head_dim, architecture, .. } = *self.config;
        let description = architecture.description();
        let norm = |part| self.norm(&format!("{prefix}.self_attn.{part}_norm"), head_dim);
        Ok(AttentionMixer {
            shape: AttentionShape { heads, kv_heads, head_dim },
            qkv: take(frozen),
            o: next(frozen),
            head_norms: if description.head_norm { Some([norm("q")?, norm("k")?]) } else { None },
            gated: description.output_gate,
        })
    }

    fn delta_mixer(
        &self,
        prefix: &str,
        delta: &DeltaNet,
        frozen: &mut impl Iterator<Item = Frozen>,
    ) -> Result<DeltaMixer, ArchitectureError> {
        let DeltaNet { key_heads, value_heads, key_dim, value_dim, conv_kernel: kernel, .. } = *delta;
        let channels = delta.channels();
        let values = |part: &str, shape: &[usize]| self.values(&format!("{prefix}.linear_attn.{part}"), shape);
        let conv = values("conv1d.weight", &[channels, 1, kernel])?;
        let rate = values("A_log", &[value_heads])?;
        Ok(DeltaMixer {
            shape: DeltaShape { key_heads, value_heads, key_dim, value_dim, kernel },
            inputs: take(frozen),
            out: next(frozen),
            weights: DeltaWeights {
                conv: (0..kernel * channels).map(|i| conv[i % channels * kernel + i / channels]).collect(),
                rate: rate.into_iter().map(f32::exp).collect(),
                dt_bias: values("dt_bias", &[value_heads])?,
                norm: values("norm.weight", &[value_dim])?,
                norm_eps: self.config.norm_eps,
            },
        })
    }
}

/// Bytes held beside a resident weight while it is made from Q8_0 blocks: they and, on the way to FP16, their values.
fn blocks_beside(blocks: &[u8], values: usize, precision: Precision) -> u64 {
    piece_beside(values) + blocks.len() as u64 + if precision == Precision::F16 { 4 * values as u64 } else { 0 }
}

/// The next of a layer's projections; the registry lists as many as the layer takes.
fn next(frozen: &mut impl Iterator<Item = Frozen>) -> Frozen {
    frozen.next().expect("the registry lists every projection of a layer")
}

fn take<const N: usize>(frozen: &mut impl Iterator<Item = Frozen>) -> [Frozen; N] {
    array::from_fn(|_| next(frozen))
}
