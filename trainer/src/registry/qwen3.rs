//! Qwen3: an RMSNorm over each query and key head before rope, no biases.

use super::architecture::{Description, NormWeight};

pub(super) const DESCRIPTION: Description = Description {
    name: "qwen3",
    model_types: &["qwen3"],
    gguf: Some("qwen3"),
    gguf_interleaved: false,
    norm: NormWeight::Plain,
    head_norm: true,
    qkv_bias: false,
    output_gate: false,
    rotary_factor: 1.0,
    rope_theta: Some(10_000.0),
    hybrid: false,
};
