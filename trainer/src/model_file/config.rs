//! What the network is: the numbers every part of the trainer agrees on.

use super::ModelError;
use std::path::Path;

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

impl ModelConfig {
    /// Refuses numbers no model has, before anything is sized by them. `path` is the file they came
    /// from; keys are named as in this struct.
    pub(crate) fn check(&self, path: &Path) -> Result<(), ModelError> {
        const WIDEST: usize = 1 << 20;
        for (key, value, limit) in [
            ("hidden", self.hidden, WIDEST),
            ("layers", self.layers, 4096),
            ("heads", self.heads, 1 << 14),
            ("kv_heads", self.kv_heads, 1 << 14),
            ("head_dim", self.head_dim, 1 << 14),
            ("intermediate", self.intermediate, WIDEST),
            ("vocab", self.vocab, 1 << 24),
            ("max_positions", self.max_positions, 1 << 30),
        ] {
            if value == 0 || value > limit {
                let problem = format!("{value} is outside 1..={limit}");
                return Err(ModelError::config(path, key, problem));
            }
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            let problem = format!("{} query heads cannot share {} key/value heads evenly", self.heads, self.kv_heads);
            return Err(ModelError::config(path, "kv_heads", problem));
        }
        if !self.head_dim.is_multiple_of(2) {
            let problem = format!("{} is odd, but rope turns pairs", self.head_dim);
            return Err(ModelError::config(path, "head_dim", problem));
        }
        if !(self.norm_eps > 0.0 && self.norm_eps < 1.0) {
            let problem = format!("{} is outside (0, 1)", self.norm_eps);
            return Err(ModelError::config(path, "norm_eps", problem));
        }
        self.rope.check(path)
    }
}

impl Rope {
    fn check(&self, path: &Path) -> Result<(), ModelError> {
        if !(self.theta.is_finite() && self.theta >= 1.0) {
            let problem = format!("{} is not a finite number of at least 1", self.theta);
            return Err(ModelError::config(path, "rope theta", problem));
        }
        let Some(scaling) = &self.scaling else {
            return Ok(());
        };
        let Llama3Scaling { factor, low_freq, high_freq, original_positions } = *scaling;
        let sound =
            [factor, low_freq, high_freq, original_positions].iter().all(|value| value.is_finite() && *value > 0.0);
        if !sound || factor < 1.0 || high_freq <= low_freq {
            let problem = format!("{scaling:?} needs positive numbers, factor >= 1 and high_freq > low_freq");
            return Err(ModelError::config(path, "rope scaling", problem));
        }
        Ok(())
    }
}
