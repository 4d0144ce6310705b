//! What the network is: the numbers every part of the trainer agrees on.

use super::Architecture;

/// Sizes and constants of a decoder-only model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    /// Which network this is.
    pub architecture: Architecture,
    /// Width of the residual stream.
    pub hidden: usize,
    /// Number of decoder layers.
    pub layers: usize,
    /// Query heads per attention layer.
    pub heads: usize,
    /// Key/value heads per attention layer; divides `heads`.
    pub kv_heads: usize,
    /// Width of one head.
    pub head_dim: usize,
    /// Leading elements of a head that rope turns; even, at most `head_dim`.
    pub rotary_dim: usize,
    /// Width inside the MLP.
    pub intermediate: usize,
    /// Rows of the embedding.
    pub vocab: usize,
    /// Epsilon of every RMSNorm.
    pub norm_eps: f32,
    /// Rotary position embedding.
    pub rope: Rope,
    /// True when the output head is the embedding itself and `lm_head.weight` does not exist.
    pub tied_head: bool,
    /// Longest sequence the model was made for, in tokens.
    pub max_positions: usize,
    /// The recurrent layers of a hybrid model; `None` if every layer attends.
    pub delta_net: Option<DeltaNet>,
}

/// Gated DeltaNet layers: which they are, and their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeltaNet {
    /// One entry a layer: true for a recurrent layer, false for one that attends.
    pub recurrent: Vec<bool>,
    /// Heads of queries and keys.
    pub key_heads: usize,
    /// Heads of values, a multiple of `key_heads`: consecutive ones share a key head.
    pub value_heads: usize,
    /// Width of a query or key head.
    pub key_dim: usize,
    /// Width of a value head.
    pub value_dim: usize,
    /// Taps of the causal convolution.
    pub conv_kernel: usize,
}

impl DeltaNet {
    /// Channels of the convolution: queries, keys and values of all heads, in that order.
    pub fn channels(&self) -> usize {
        2 * self.key_heads * self.key_dim + self.values()
    }

    /// Values of all heads, the width of the layer's output before `out_proj`.
    pub fn values(&self) -> usize {
        self.value_heads * self.value_dim
    }
}

/// Rotary embedding, pairs `(i, i + rotary_dim/2)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// Base of the frequencies `theta^(-2i/rotary_dim)`.
    pub theta: f64,
    /// Llama 3's frequency bands, if the model has them.
    pub scaling: Option<Llama3Scaling>,
}

/// Llama 3's rope scaling: wavelengths above `original_positions/low_freq` are divided by `factor`,
/// those below `original_positions/high_freq` stay, the band between is blended.
#[derive(Clone, Debug, PartialEq)]
pub struct Llama3Scaling {
    /// Divisor of the low frequencies.
    pub factor: f64,
    /// Low end of the blend.
    pub low_freq: f64,
    /// High end of the blend.
    pub high_freq: f64,
    /// Context length before the model was stretched.
    pub original_positions: f64,
}

impl ModelConfig {
    /// The recurrent layer's sizes if layer `layer` is one.
    pub fn recurrent(&self, layer: usize) -> Option<&DeltaNet> {
        self.delta_net.as_ref().filter(|delta| delta.recurrent.get(layer).copied().unwrap_or(false))
    }

    /// The model cut to its first `layers` layers; which of them are recurrent stays as it was.
    pub fn first_layers(mut self, layers: usize) -> ModelConfig {
        self.layers = self.layers.min(layers);
        if let Some(delta) = &mut self.delta_net {
            delta.recurrent.truncate(layers);
        }
        self
    }

    /// Rows of `q_proj`: the queries of all heads and, with an output gate, as many gates.
    pub fn query_rows(&self) -> usize {
        let parts = if self.architecture.description().output_gate { 2 } else { 1 };
        parts * self.heads * self.head_dim
    }
}
