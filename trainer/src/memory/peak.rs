//! What a step needs at its peak. Upper figures of the buffers in use at once; allocator overhead and the program itself
//! are not in them. Files are read by position, so no page of a file is resident.

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

/// What a run holds from its first step to its last, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Frozen projections.
    pub projections: u64,
    /// Embedding, and the head if it is another matrix.
    pub tables: u64,
    /// Parameters of the adapters; their gradients take as much, the optimizer's moments twice as much.
    pub adapters: u64,
}

/// Everything alive at the peak of a step whose activations take `activations` bytes, for sequences of `lengths` tokens,
/// every one a target.
pub fn peak_parts(
    config: &ModelConfig,
    held: &Held,
    activations: u64,
    lengths: &[usize],
    threads: usize,
) -> Vec<PeakPart> {
    let tokens = lengths.iter().sum();
    let head = head_bytes(config, tokens, tokens, threads);
    let gradients = (0..config.layers).map(|layer| layer_gradient_bytes(config, layer, lengths, threads)).max();
    let part = |name, bytes| PeakPart { name, bytes };
    vec![
        part("resident weights", held.projections),
        part("embedding and head", held.tables),
        part("adapters", held.adapters),
        part("their gradients", held.adapters),
        part("optimizer", 2 * held.adapters),
        part("activations", activations),
        part("head's chunk, or gradients of a layer", head.max(gradients.unwrap_or(0))),
        part("request in flight", request_bytes(config, tokens)),
    ]
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

/// Rows in and out of requests `tokens` long, with an exponent and a flag a row. Both buffers are kept from request to
/// request, so each is as wide as the widest side of any projection: one direction reads it, the other writes it.
pub fn request_bytes(config: &ModelConfig, tokens: usize) -> u64 {
    let padded = |width: usize| width.next_multiple_of(VECTOR_VALUES) as u64;
    let widest = config.projections().iter().map(|p| padded(p.rows).max(padded(p.cols))).max().unwrap_or(0);
    tokens as u64 * (2 * F32 * widest + F32 + 1)
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
        assert_eq!(request_bytes(&config, 100), 100 * (4 * (8192 + 8192) + 5));
        assert_eq!(layer_gradient_bytes(&config, 0, &[100], 8), 4 * 100 * (4 * 2048 + 2 * 8192));
        let held = Held { projections: 1000, tables: 100, adapters: 1 };
        let parts = peak_parts(&config, &held, 10, &[100], 8);
        let sum: u64 = parts.iter().map(|part| part.bytes).sum();
        let (head, gradients) = (head_bytes(&config, 100, 100, 8), layer_gradient_bytes(&config, 0, &[100], 8));
        assert_eq!(sum, 1000 + 100 + 4 + 10 + head.max(gradients) + request_bytes(&config, 100));
        let config = ModelConfig::preset("qwen3.5-4b").unwrap().1;
        let (floats, state) = (3 * 2560 + 4 * 4096 + 3 * 8192, 2 * 128 * 128);
        // 8 of 16 key heads at once; with 20 threads the short sequence's heads too.
        for (threads, chunks) in [(8, 8 * 215), (20, 16 * 215 + 4)] {
            let bytes = layer_gradient_bytes(&config, 0, &[7, 3431], threads);
            assert_eq!(bytes, 4 * (3438 * floats + chunks * state), "{threads}");
        }
    }
}
