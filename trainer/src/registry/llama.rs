//! Llama: the plain skeleton. Llama 3's rope bands are part of the configuration.

use super::architecture::{Description, NormWeight};

pub(super) const DESCRIPTION: Description = Description {
    name: "llama",
    model_types: &["llama"],
    gguf: Some("llama"),
    gguf_interleaved: true,
    norm: NormWeight::Plain,
    head_norm: false,
    qkv_bias: false,
    output_gate: false,
    rotary_factor: 1.0,
    rope_theta: Some(10_000.0),
    hybrid: false,
};
