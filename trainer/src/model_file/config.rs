//! What the network is: the numbers every room of the trainer agrees on.

/// Network families this build can train.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// RMSNorm, grouped-query attention, rope, SwiGLU, no biases.
    Llama,
}

impl Architecture {
    /// Names a model file may use for what is supported, for error texts.
    pub const SUPPORTED: &'static str = "llama";
}

/// Sizes and constants of a decoder-only model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    /// Which network this is.
    pub architecture: Architecture,
    /// Width of the residual stream.
    pub hidden: usize,
    /// Number of decoder layers.
    pub layers: usize,
    /// Query heads per layer.
    pub heads: usize,
    /// Key/value heads per layer; divides `heads`.
    pub kv_heads: usize,
    /// Width of one head; even, because rope turns pairs.
    pub head_dim: usize,
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
}

/// Rotary embedding over the whole head, pairs `(i, i + head_dim/2)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// Base of the frequencies `theta^(-2i/head_dim)`.
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
