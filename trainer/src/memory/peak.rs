//! What a step needs beside weights and activations. Upper figures of the buffers in use at once; allocator overhead and
//! the pages of mapped files are not in them.

use serde::Serialize;

use super::layer::LayerKind;
use crate::registry::ModelConfig;

const F32: u64 = 4;
/// Logits held at a time, and the rows that makes at least and at most.
const LOGITS: usize = 8 << 20;
const HEAD_ROWS: (usize, usize) = (16, 256);
/// Vocabulary entries widened to f32 at a time.
const VOCABULARY: usize = 2048;
/// f32 values of one HVX vector: rows of a request start on vector boundaries.
const VECTOR_VALUES: usize = 32;

/// A part of the predicted peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakPart {
    /// What it is.
    pub name: &'static str,
    /// Its size.
    pub bytes: u64,
}

/// The head's buffers for `targets` rows of `tokens`: one chunk of logits, one of widened vocabulary rows, the target
/// rows with their normed values and both gradients, and the hidden rows with theirs.
pub fn head_bytes(config: &ModelConfig, tokens: usize, targets: usize) -> u64 {
    let rows = (LOGITS / config.vocab.max(1)).clamp(HEAD_ROWS.0, HEAD_ROWS.1).min(targets);
    let (logits, widened) = (rows * config.vocab, VOCABULARY.min(config.vocab) * config.hidden);
    F32 * (logits + widened + (4 * targets + 2 * tokens) * config.hidden) as u64
}

/// Gradients alive at once in the backward pass of a layer, of whichever half needs more.
pub fn layer_gradient_bytes(config: &ModelConfig, kind: LayerKind, tokens: usize) -> u64 {
    let hidden = config.hidden;
    // Residual, normed input, its gradient's two shares; the inner value and its gradient.
    let mlp = 4 * hidden + 2 * config.intermediate;
    let (queries, keys) = (config.heads * config.head_dim, config.kv_heads * config.head_dim);
    let mixer = match (kind, &config.delta_net) {
        // Output, gate and the convolution's channels, each with its gradient, and the channels before SiLU.
        (LayerKind::Recurrent, Some(delta)) => 3 * hidden + 4 * delta.values() + 3 * delta.channels(),
        // Gradients of the output twice, of q, k and v head-major and as rows.
        _ => 3 * hidden + 2 * queries + 2 * (queries + 2 * keys),
    };
    F32 * (tokens * mlp.max(mixer)) as u64
}

/// Rows in and out of the largest request, `tokens` long, with an exponent and a flag a row.
pub fn request_bytes(config: &ModelConfig, tokens: usize) -> u64 {
    let padded = |width: usize| width.next_multiple_of(VECTOR_VALUES) as u64;
    let widest = config.projections().iter().map(|p| padded(p.rows) + padded(p.cols)).max().unwrap_or(0);
    tokens as u64 * (F32 * widest + F32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_the_buffers() {
        let config = ModelConfig::preset("llama-3.2-1b").unwrap().1;
        // 65 rows of logits.
        assert_eq!(head_bytes(&config, 100, 80), 4 * (65 * 128_256 + 2048 * 2048 + (4 * 80 + 2 * 100) * 2048));
        assert_eq!(head_bytes(&config, 100, 3), 4 * (3 * 128_256 + 2048 * 2048 + (4 * 3 + 2 * 100) * 2048));
        assert_eq!(request_bytes(&config, 100), 100 * (4 * (8192 + 2048) + 5));
        assert_eq!(layer_gradient_bytes(&config, LayerKind::Attention, 100), 4 * 100 * (4 * 2048 + 2 * 8192));
        let config = ModelConfig::preset("qwen3.5-4b").unwrap().1;
        let floats = 3 * 2560 + 4 * 4096 + 3 * 8192;
        assert_eq!(layer_gradient_bytes(&config, LayerKind::Recurrent, 10), 4 * 10 * floats);
    }
}
