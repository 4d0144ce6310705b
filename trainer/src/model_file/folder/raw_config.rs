//! `config.json` as it is written.

use serde::Deserialize;

/// The keys that matter; all others describe training or serving.
#[derive(Deserialize)]
pub(super) struct RawConfig {
    pub hidden_size: Option<usize>,
    pub num_hidden_layers: Option<usize>,
    pub num_attention_heads: Option<usize>,
    pub num_key_value_heads: Option<usize>,
    pub head_dim: Option<usize>,
    pub intermediate_size: Option<usize>,
    pub vocab_size: Option<usize>,
    pub max_position_embeddings: Option<usize>,
    pub rms_norm_eps: Option<f64>,
    pub tie_word_embeddings: Option<bool>,
    pub hidden_act: Option<String>,
    pub attention_bias: Option<bool>,
    pub mlp_bias: Option<bool>,
    pub use_sliding_window: Option<bool>,
    pub layer_types: Option<Vec<String>>,
    /// Read only without `layer_types`.
    pub full_attention_interval: Option<usize>,
    pub linear_num_key_heads: Option<usize>,
    pub linear_num_value_heads: Option<usize>,
    pub linear_key_head_dim: Option<usize>,
    pub linear_value_head_dim: Option<usize>,
    pub linear_conv_kernel_dim: Option<usize>,
    /// One object for everything (transformers 5).
    pub rope_parameters: Option<RawRope>,
    /// The older pair.
    pub rope_theta: Option<f64>,
    pub rope_scaling: Option<RawRope>,
    pub partial_rotary_factor: Option<f64>,
    pub eos_token_id: Option<OneOrMany>,
    pub bos_token_id: Option<OneOrMany>,
}

#[derive(Deserialize)]
pub(super) struct RawRope {
    pub rope_type: Option<String>,
    /// The older name; some files have both.
    #[serde(rename = "type")]
    pub old_type: Option<String>,
    pub rope_theta: Option<f64>,
    pub partial_rotary_factor: Option<f64>,
    pub factor: Option<f64>,
    pub low_freq_factor: Option<f64>,
    pub high_freq_factor: Option<f64>,
    pub original_max_position_embeddings: Option<f64>,
}

impl RawRope {
    /// `rope_type`, or `type` in older files.
    pub fn kind(&self) -> Option<&str> {
        self.rope_type.as_deref().or(self.old_type.as_deref())
    }
}

/// Some files list several ends of an answer; the first one is the model's own.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(u64),
    Many(Vec<u64>),
}

impl OneOrMany {
    pub fn first(&self) -> Option<u64> {
        match self {
            OneOrMany::One(id) => Some(*id),
            OneOrMany::Many(ids) => ids.first().copied(),
        }
    }
}
