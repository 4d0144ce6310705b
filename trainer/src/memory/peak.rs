//! What a step needs beside weights and activations. Upper figures of the buffers in use at once; allocator overhead and
//! the pages of mapped files are not in them.

use serde::Serialize;

use crate::nodes::{DELTA_CHUNK, HEAD_WIDENED, rows_at_a_time};
use crate::registry::{DeltaNet, ModelConfig};

const F32: u64 = 4;
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

/// The head's buffers for `targets` rows of `tokens`: one chunk of logits, a block of widened vocabulary rows for every
/// thread, the target
/// rows with their normed values and both gradients, and the hidden rows with theirs.
pub fn head_bytes(config: &ModelConfig, tokens: usize, targets: usize, threads: usize) -> u64 {
    let rows = rows_at_a_time(config.vocab).min(targets);
    let (logits, widened) = (rows * config.vocab, threads * HEAD_WIDENED);
    F32 * (logits + widened + (4 * targets + 2 * tokens) * config.hidden) as u64
}

/// Values alive at once in the backward pass of a layer beside its tape, of whichever half needs more, for sequences of
/// `lengths` tokens. The states of as many heads as there are `threads` are among them.
pub fn layer_gradient_bytes(config: &ModelConfig, layer: usize, lengths: &[usize], threads: usize) -> u64 {
    let (hidden, tokens) = (config.hidden, lengths.iter().sum::<usize>());
    // Residual, normed input, its gradient's two shares; the inner value and its gradient.
    let mlp = tokens * (4 * hidden + 2 * config.intermediate);
    let (queries, keys) = (config.heads * config.head_dim, config.kv_heads * config.head_dim);
    let mixer = match config.recurrent(layer) {
        // Gradients of the output and of z twice, of the channels twice, the channels behind the convolution.
        Some(delta) => {
            tokens * (3 * hidden + 4 * delta.values() + 3 * delta.channels()) + states(delta, lengths, threads)
        }
        // Queries and keys again, gradients of the output twice, of q, k and v head-major and as rows.
        None => tokens * (3 * hidden + 5 * queries + 5 * keys),
    };
    F32 * mlp.max(mixer) as u64
}

/// Values of the states at every chunk's start, of the key heads at work.
fn states(delta: &DeltaNet, lengths: &[usize], threads: usize) -> usize {
    let head = delta.key_dim * delta.value_dim * (delta.value_heads / delta.key_heads);
    let mut tasks: Vec<usize> = lengths.iter().map(|length| length.div_ceil(DELTA_CHUNK)).collect();
    tasks = tasks.iter().flat_map(|&chunks| vec![chunks; delta.key_heads]).collect();
    tasks.sort_unstable_by(|a, b| b.cmp(a));
    head * tasks.iter().take(threads).sum::<usize>()
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
        // 256 rows of logits at most.
        assert_eq!(head_bytes(&config, 100, 300, 2), 4 * (256 * 128_256 + (2 << 18) + (4 * 300 + 2 * 100) * 2048));
        assert_eq!(head_bytes(&config, 100, 3, 2), 4 * (3 * 128_256 + (2 << 18) + (4 * 3 + 2 * 100) * 2048));
        assert_eq!(request_bytes(&config, 100), 100 * (4 * (8192 + 2048) + 5));
        assert_eq!(layer_gradient_bytes(&config, 0, &[100], 8), 4 * 100 * (4 * 2048 + 2 * 8192));
        let config = ModelConfig::preset("qwen3.5-4b").unwrap().1;
        let (floats, state) = (3 * 2560 + 4 * 4096 + 3 * 8192, 2 * 128 * 128);
        // 8 of 16 key heads at once; with 20 threads the short sequence's heads too.
        for (threads, chunks) in [(8, 8 * 215), (20, 16 * 215 + 4)] {
            let bytes = layer_gradient_bytes(&config, 0, &[7, 3431], threads);
            assert_eq!(bytes, 4 * (3438 * floats + chunks * state), "{threads}");
        }
    }
}
