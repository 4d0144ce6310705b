//! Gated DeltaNet as one node: causal convolution and SiLU over queries, keys and values, l2 normalisation, the two
//! gates, the gated delta rule, and the gated RMSNorm of its output. Frozen weights have no gradient.
//!
//! The delta rule runs in chunks of 16 tokens in matrix form; the state is kept in the node's own type (f32 in training).
//! The backward pass computes a head's forward pass again with the state at every chunk's start, so the tape holds no
//! state at all: what is kept of a layer does not grow with its state, and a task holds one head's states at a time.
//! Convolution and state begin anew with every sequence. Tasks are (key head, sequence) pairs that write apart, so
//! neither thread count nor packing changes a bit of a sequence's result.

mod chunk;
mod chunk_backward;
mod convolution;
mod gated_norm;
mod gates;
mod key_head;
mod l2_norm;
mod shape;

pub(crate) use chunk::CHUNK;
pub use shape::{DeltaGrads, DeltaInput, DeltaShape, DeltaState, DeltaWeights};

use super::Real;
use super::attention::cut;
use super::rope::join_heads;
use key_head::{KeyHead, TaskGrads};
use rayon::prelude::*;
use std::ops::Range;

/// Training forward: every span is a sequence of its own. `out` is `[T, values]`, the input of `out_proj`.
pub fn delta_net_forward<T: Real>(
    shape: DeltaShape,
    weights: &DeltaWeights<T>,
    input: DeltaInput<'_, T>,
    spans: &[Range<usize>],
    out: &mut [T],
) {
    let tokens = spans.last().map_or(0, |s| s.end);
    let width = shape.group() * shape.value_dim;
    let mut heads = vec![T::ZERO; out.len()];
    let tasks: Vec<_> = cut(&mut heads, tokens, width, spans).into_iter().flatten().enumerate().collect();
    tasks.into_par_iter().for_each(|(task, out)| {
        let (head, span) = (task / spans.len(), spans[task % spans.len()].clone());
        let mut states = vec![T::ZERO; shape.key_dim * width];
        KeyHead { shape, weights, input, span, history: None, head }.forward(&mut states, out);
    });
    join_heads(&heads, tokens, width, out);
}

/// Backward of [`delta_net_forward`]; `dy` is the gradient of its output.
pub fn delta_net_backward<T: Real>(
    shape: DeltaShape,
    weights: &DeltaWeights<T>,
    input: DeltaInput<'_, T>,
    spans: &[Range<usize>],
    dy: &[T],
    grads: DeltaGrads<'_, T>,
) {
    let tokens = spans.last().map_or(0, |s| s.end);
    let (group, keys) = (shape.group(), shape.key_heads);
    let widths = [shape.key_dim, shape.key_dim, group * shape.value_dim, group * shape.value_dim, group, group];
    let mut buffers = widths.map(|width| vec![T::ZERO; keys * tokens * width]);
    let mut pieces = buffers.each_mut().map(|buffer| buffer.as_mut_slice());
    let mut cuts = Vec::new();
    for (piece, width) in pieces.iter_mut().zip(widths) {
        cuts.push(cut(piece, tokens, width, spans).into_iter().flatten());
    }
    let mut tasks = Vec::new();
    while let Some(task) = cuts.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>() {
        tasks.push(task);
    }
    tasks.into_par_iter().enumerate().for_each(|(task, pieces)| {
        let (head, span) = (task / spans.len(), spans[task % spans.len()].clone());
        let Ok([q, k, v, z, b, a]) = <[&mut [T]; 6]>::try_from(pieces) else { unreachable!("six buffers were cut") };
        let head = KeyHead { shape, weights, input, span, history: None, head };
        head.backward(dy, TaskGrads { parts: [q, k, v], z, b, a });
    });
    let [q, k, v, z, b, a] = buffers;
    join_heads(&z, tokens, group * shape.value_dim, grads.z);
    join_heads(&b, tokens, group, grads.b);
    join_heads(&a, tokens, group, grads.a);
    let parts = [(q, shape.key_dim), (k, shape.key_dim), (v, group * shape.value_dim)];
    grads.u.par_chunks_mut(shape.channels()).enumerate().for_each(|(t, row)| {
        let mut rest = row;
        for (heads, width) in &parts {
            let (block, after) = rest.split_at_mut(keys * width);
            for (head, out) in block.chunks_exact_mut(*width).enumerate() {
                out.copy_from_slice(&heads[(head * tokens + t) * width..][..*width]);
            }
            rest = after;
        }
    });
}

/// Where a run of new tokens goes on from.
#[derive(Clone, Copy, Debug)]
pub enum DeltaStart<'a, T = f32> {
    /// A sequence's first token.
    Empty,
    /// A state kept earlier.
    Kept(&'a DeltaState<T>),
    /// The end of an earlier run of the same call.
    Run(usize),
}

/// Inference: runs of new tokens, each from its start. `spans` say where the runs lie among the rows. Gives the state at
/// the end of every run.
pub fn delta_net_continue<T: Real>(
    shape: DeltaShape,
    weights: &DeltaWeights<T>,
    input: DeltaInput<'_, T>,
    (spans, starts): (&[Range<usize>], &[DeltaStart<'_, T>]),
    out: &mut [T],
) -> Vec<DeltaState<T>> {
    let tokens = spans.last().map_or(0, |s| s.end);
    let width = shape.group() * shape.value_dim;
    let (channels, share) = (shape.channels(), shape.key_dim * width);
    let mut ends: Vec<DeltaState<T>> = Vec::with_capacity(spans.len());
    for (span, start) in spans.iter().zip(starts) {
        let mut end = match *start {
            DeltaStart::Empty => DeltaState::start(shape),
            DeltaStart::Kept(state) => state.clone(),
            DeltaStart::Run(run) => ends[run].clone(),
        };
        // The last rows of u, older ones from the start's history.
        end.history.extend_from_slice(&input.u[span.start * channels..span.end * channels]);
        end.history.drain(..end.history.len() - shape.history());
        ends.push(end);
    }
    let histories: Vec<Option<Vec<T>>> = starts
        .iter()
        .map(|start| match *start {
            DeltaStart::Empty => None,
            DeltaStart::Kept(state) => Some(state.history.clone()),
            DeltaStart::Run(run) => Some(ends[run].history.clone()),
        })
        .collect();

    let mut heads = vec![T::ZERO; out.len()];
    let per_head = cut(&mut heads, tokens, width, spans);
    let states: Vec<Vec<Vec<T>>> = per_head
        .into_par_iter()
        .enumerate()
        .map(|(head, outs)| {
            let mut reached: Vec<Vec<T>> = Vec::with_capacity(spans.len());
            for (run, out) in outs.into_iter().enumerate() {
                let mut state = match starts[run] {
                    DeltaStart::Run(earlier) => reached[earlier].clone(),
                    _ => ends[run].state[head * share..][..share].to_vec(),
                };
                let history = histories[run].as_deref();
                let span = spans[run].clone();
                KeyHead { shape, weights, input, span, history, head }.forward(&mut state, out);
                reached.push(state);
            }
            reached
        })
        .collect();
    for (head, reached) in states.into_iter().enumerate() {
        for (end, state) in ends.iter_mut().zip(reached) {
            end.state[head * share..][..share].copy_from_slice(&state);
        }
    }
    join_heads(&heads, tokens, width, out);
    ends
}

#[cfg(test)]
mod tests;
