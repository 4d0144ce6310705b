//! Qwen3.5, the text model: Gated DeltaNet layers, and every fourth a gated attention layer with rope on a quarter of
//! each head. Norm weights are stored around 0, but for the output norm of the DeltaNet layers.

use super::architecture::{Description, NormWeight};
use super::config::{DeltaNet, ModelConfig};
use super::projection::{Projection, ProjectionKind};

pub(super) const DESCRIPTION: Description = Description {
    name: "qwen3_5",
    // The hub's checkpoints are multimodal (`qwen3_5`, the text model in `text_config`).
    model_types: &["qwen3_5", "qwen3_5_text"],
    gguf: None,
    gguf_interleaved: false,
    norm: NormWeight::OnePlus,
    head_norm: true,
    qkv_bias: false,
    output_gate: true,
    rotary_factor: 0.25,
    rope_theta: None,
    hybrid: true,
};

/// Projections of a DeltaNet layer, in model order: the first four share an input.
pub(super) fn projections(config: &ModelConfig, delta: &DeltaNet, layer: usize) -> Vec<Projection> {
    let hidden = config.hidden;
    let named = |(part, rows, cols): (&str, usize, usize)| Projection {
        name: format!("model.layers.{layer}.linear_attn.{part}"),
        rows,
        cols,
        kind: ProjectionKind::Recurrent,
    };
    [
        ("in_proj_qkv", delta.channels(), hidden),
        ("in_proj_z", delta.values(), hidden),
        ("in_proj_b", delta.value_heads, hidden),
        ("in_proj_a", delta.value_heads, hidden),
        ("out_proj", hidden, delta.values()),
    ]
    .map(named)
    .into()
}

/// The other tensors of a DeltaNet layer: name below the layer, and shape.
pub(super) fn tensors(delta: &DeltaNet) -> [(&'static str, Vec<usize>); 4] {
    [
        ("linear_attn.conv1d.weight", vec![delta.channels(), 1, delta.conv_kernel]),
        ("linear_attn.A_log", vec![delta.value_heads]),
        ("linear_attn.dt_bias", vec![delta.value_heads]),
        ("linear_attn.norm.weight", vec![delta.value_dim]),
    ]
}
