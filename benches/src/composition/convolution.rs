//! Depthwise causal convolution over the tokens of one sequence, without bias; SiLU is an operator of its own.

use std::sync::Arc;

use rayon::prelude::*;
use trainer::nodes::vectorised;

use super::tape::{Tape, Tensor, Var};

/// y[t] = Σ_j w[j]·x[t − kernel + 1 + j]; `weights` is `[kernel][channels]`.
pub fn convolution(tape: &mut Tape, x: &Var, weights: &Tensor, channels: usize) -> Var {
    let kernel = weights.len() / channels;
    let y = taps(&x.values, weights, channels, |t, tap| (t + tap).checked_sub(kernel - 1));
    let weights = weights.clone();
    tape.record("convolution", &[x], y, move |dy| {
        let tokens = dy.len() / channels;
        let later = |t: usize, tap: usize| Some(t + kernel - 1 - tap).filter(|row| *row < tokens);
        vec![Some(taps(dy, &weights, channels, later))]
    })
}

/// out[t] = Σ_j w[j]·rows[row(t, j)], over the taps that have a row.
fn taps(rows: &[f32], weights: &[f32], channels: usize, row: impl Fn(usize, usize) -> Option<usize> + Sync) -> Tensor {
    let mut out = vec![0.0; rows.len()];
    out.par_chunks_mut(channels).enumerate().for_each(|(t, out)| {
        vectorised(
            #[inline(always)]
            || {
                for (tap, w) in weights.chunks_exact(channels).enumerate() {
                    let Some(row) = row(t, tap) else { continue };
                    let x = &rows[row * channels..][..channels];
                    out.iter_mut().zip(w).zip(x).for_each(|((out, w), x)| *out += w * x);
                }
            },
        );
    });
    Arc::new(out)
}
