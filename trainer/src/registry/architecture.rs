//! The architectures, and what tells them apart.

use super::{llama, qwen2, qwen3, qwen3_5};

/// Network families this build can train.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// RMSNorm, grouped-query attention, rope, SwiGLU, no biases.
    Llama,
    /// Llama with biases on q, k and v.
    Qwen2,
    /// Llama with an RMSNorm over each query and key head.
    Qwen3,
    /// Gated DeltaNet layers with a gated attention layer among every few of them.
    Qwen3_5,
}

/// How a stored norm weight w acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormWeight {
    /// y = w · r(x).
    Plain,
    /// y = (1 + w) · r(x).
    OnePlus,
}

/// What tells an architecture from the others. Everything else is the shared skeleton:
/// h += mixer(norm(h)); h += mlp(norm(h)) per layer, then the final norm and the head.
#[derive(Debug)]
pub struct Description {
    /// Name in messages.
    pub name: &'static str,
    /// Values of `model_type` in a `config.json`, or in its `text_config`.
    pub model_types: &'static [&'static str],
    /// `general.architecture` of GGUF files; `None` if only Hugging Face folders are read.
    pub gguf: Option<&'static str>,
    /// Whether GGUF files interleave the two halves of each rotary head of q and k.
    pub gguf_interleaved: bool,
    /// How the weights of the layer norms, the final norm and the head norms act.
    pub norm: NormWeight,
    /// RMSNorm over each query and key head, before rope.
    pub head_norm: bool,
    /// Biases on q, k and v.
    pub qkv_bias: bool,
    /// `q_proj` also gives a gate per query element; attention is multiplied by its sigmoid.
    pub output_gate: bool,
    /// Share of a head that rope turns, unless the configuration says otherwise.
    pub rotary_factor: f64,
    /// Rope base of configurations that do not name one; `None` if they must.
    pub rope_theta: Option<f64>,
    /// Whether layers may be recurrent.
    pub hybrid: bool,
}

impl Architecture {
    /// Every architecture.
    pub const ALL: [Architecture; 4] =
        [Architecture::Llama, Architecture::Qwen2, Architecture::Qwen3, Architecture::Qwen3_5];

    /// What a model folder may be, for error texts.
    pub const SUPPORTED: &'static str = "llama, qwen2, qwen3, qwen3_5 (a dense one: no mixture of experts)";

    /// What a GGUF file may be, for error texts.
    pub const SUPPORTED_GGUF: &'static str =
        "llama, qwen2, qwen3 as GGUF, and qwen3_5 as the Hugging Face folder of the model";

    /// What tells it from the others.
    pub fn description(self) -> &'static Description {
        match self {
            Architecture::Llama => &llama::DESCRIPTION,
            Architecture::Qwen2 => &qwen2::DESCRIPTION,
            Architecture::Qwen3 => &qwen3::DESCRIPTION,
            Architecture::Qwen3_5 => &qwen3_5::DESCRIPTION,
        }
    }

    /// The architecture of a `model_type`.
    pub fn of_model_type(model_type: &str) -> Option<Architecture> {
        Architecture::ALL.into_iter().find(|a| a.description().model_types.contains(&model_type))
    }

    /// The architecture of a GGUF file.
    pub fn of_gguf(name: &str) -> Option<Architecture> {
        Architecture::ALL.into_iter().find(|a| a.description().gguf == Some(name))
    }
}
