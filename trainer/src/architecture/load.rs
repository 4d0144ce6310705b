//! Takes a Llama-shaped model from its file: projections to the runtime, the rest stays here.

use super::ArchitectureError;
use super::layer::{Layer, PROJECTIONS};
use crate::adapter::ProjectionShape;
use crate::model_file::{ModelConfig, TensorSource};
use crate::nodes::{AttentionShape, EmbeddingTable};
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
    shape: &ProjectionShape,
) -> Result<ProjectionId, ArchitectureError> {
    let name = format!("{}.weight", shape.name);
    check(tensors, &name, &[shape.out, shape.input])?;
    Ok(match tensors.q8_0_blocks(&name)? {
        Some(blocks) => builder.add(&shape.name, shape.out, shape.input, WeightData::Q8Blocks(&blocks))?,
        None => builder.add(&shape.name, shape.out, shape.input, WeightData::F32(&tensors.read_f32(&name)?))?,
    })
}

fn shapes(config: &ModelConfig, layer: usize) -> [ProjectionShape; 7] {
    let (hidden, inner) = (config.hidden, config.intermediate);
    let (queries, keys) = (config.heads * config.head_dim, config.kv_heads * config.head_dim);
    let sizes = [
        (queries, hidden),
        (keys, hidden),
        (keys, hidden),
        (hidden, queries),
        (inner, hidden),
        (inner, hidden),
        (hidden, inner),
    ];
    std::array::from_fn(|slot| {
        let (out, input) = sizes[slot];
        ProjectionShape { name: format!("model.layers.{layer}.{}", PROJECTIONS[slot]), out, input }
    })
}

pub(super) fn layer(
    config: &ModelConfig,
    index: usize,
    tensors: &dyn TensorSource,
    builder: &mut RuntimeBuilder,
) -> Result<Layer, ArchitectureError> {
    let shapes = shapes(config, index);
    let ids = shapes.iter().map(|shape| projection(tensors, builder, shape)).collect::<Result<Vec<_>, _>>()?;
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
        shapes,
    })
}
