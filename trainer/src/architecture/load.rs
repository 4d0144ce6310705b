//! Takes a Llama-shaped model from its file: projections to the runtime, the rest stays here.

use super::ArchitectureError;
use super::layer::Layer;
use crate::adapter::ProjectionShape;
use crate::model_file::TensorSource;
use crate::nodes::{AttentionShape, EmbeddingTable};
use crate::registry::{ModelConfig, PrecisionPolicy, Projection};
use hexagon_runtime::{ProjectionId, RuntimeBuilder, WeightData};

fn check(tensors: &dyn TensorSource, name: &str, expected: &[usize]) -> Result<(), ArchitectureError> {
    let found = tensors.shape(name).ok_or_else(|| ArchitectureError::Missing { name: name.to_owned() })?;
    if found != expected {
        return Err(ArchitectureError::Shape { name: name.to_owned(), found, expected: expected.to_vec() });
    }
    Ok(())
}

pub(super) fn vector(tensors: &dyn TensorSource, name: &str, len: usize) -> Result<Vec<f32>, ArchitectureError> {
    check(tensors, name, &[len])?;
    Ok(tensors.read_f32(name)?)
}

pub(super) fn table(
    tensors: &dyn TensorSource,
    name: &str,
    rows: usize,
    width: usize,
) -> Result<EmbeddingTable, ArchitectureError> {
    check(tensors, name, &[rows, width])?;
    Ok(match tensors.q8_0_blocks(name)? {
        Some(blocks) => EmbeddingTable::from_q8_0(blocks, rows, width),
        None => EmbeddingTable::from_f32(tensors.read_f32(name)?, rows, width),
    })
}

fn projection(
    tensors: &dyn TensorSource,
    builder: &mut RuntimeBuilder,
    projection: &Projection,
    policy: &PrecisionPolicy,
) -> Result<ProjectionId, ArchitectureError> {
    let Projection { name, rows, cols, kind } = projection;
    let tensor = format!("{name}.weight");
    check(tensors, &tensor, &[*rows, *cols])?;
    let precision = policy.of(*kind);
    Ok(match tensors.q8_0_blocks(&tensor)? {
        Some(blocks) => builder.add_as(name, *rows, *cols, WeightData::Q8Blocks(&blocks), precision)?,
        None => builder.add_as(name, *rows, *cols, WeightData::F32(&tensors.read_f32(&tensor)?), precision)?,
    })
}

pub(super) fn layer(
    config: &ModelConfig,
    index: usize,
    tensors: &dyn TensorSource,
    builder: &mut RuntimeBuilder,
    policy: &PrecisionPolicy,
) -> Result<Layer, ArchitectureError> {
    let projections = config.layer_projections(index);
    let ids = projections.iter().map(|p| projection(tensors, builder, p, policy)).collect::<Result<Vec<_>, _>>()?;
    let shapes: Vec<_> = projections.into_iter().map(ProjectionShape::from).collect();
    let norm = |name| vector(tensors, &format!("model.layers.{index}.{name}.weight"), config.hidden);
    Ok(Layer {
        index,
        attention: AttentionShape { heads: config.heads, kv_heads: config.kv_heads, head_dim: config.head_dim },
        hidden: config.hidden,
        intermediate: config.intermediate,
        norm_eps: config.norm_eps,
        input_norm: norm("input_layernorm")?,
        post_norm: norm("post_attention_layernorm")?,
        ids: std::array::from_fn(|slot| ids[slot]),
        shapes: std::array::from_fn(|slot| shapes[slot].clone()),
    })
}
