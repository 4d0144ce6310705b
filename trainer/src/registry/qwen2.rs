//! Qwen2 and Qwen2.5: biases on q, k and v.

use super::architecture::{Description, NormWeight};

pub(super) const DESCRIPTION: Description = Description {
    name: "qwen2",
    model_types: &["qwen2"],
    gguf: Some("qwen2"),
    gguf_interleaved: false,
    norm: NormWeight::Plain,
    head_norm: false,
    qkv_bias: true,
    output_gate: false,
    rotary_factor: 1.0,
    rope_theta: Some(10_000.0),
    hybrid: false,
};
