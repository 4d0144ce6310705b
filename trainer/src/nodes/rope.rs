//! Rotary position embedding, half split: elements i and i + R/2 of a head are a pair, R the rotated part of it; the rest
//! of the head passes through. Frequencies θ^(−2i/R), optionally with Llama 3's scaling (`rope_type: llama3` of Hugging
//! Face configurations). Models that norm each query and key head do so in the same node, before the rotation.

use super::real::Real;
use super::rms_norm::{add_row_gradient, inverse_rms};
use crate::registry::{Llama3Scaling, Rope};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Inverse frequency of each pair, in radians per position; `rotary_dim` elements of a head are turned.
pub(crate) fn inverse_frequencies(rope: &Rope, rotary_dim: usize) -> Vec<f64> {
    let frequency = |i: usize| rope.theta.powf(-2.0 * i as f64 / rotary_dim as f64);
    let plain = (0..rotary_dim / 2).map(frequency);
    match &rope.scaling {
        None => plain.collect(),
        Some(scaling) => plain.map(|inverse| stretch(inverse, scaling)).collect(),
    }
}

/// Llama 3: long waves are stretched by `factor`, short ones left alone, those between blended.
fn stretch(inverse: f64, scaling: &Llama3Scaling) -> f64 {
    let (factor, low, high) = (scaling.factor, scaling.low_freq, scaling.high_freq);
    let turns = scaling.original_positions * inverse / TAU;
    if turns < low {
        inverse / factor
    } else if turns > high {
        inverse
    } else {
        let share = (turns - low) / (high - low);
        (1.0 - share) * inverse / factor + share * inverse
    }
}

/// Where the heads of a token's row lie: head h takes elements h·stride .. h·stride + dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadRows {
    /// Elements of a head.
    pub dim: usize,
    /// Elements from one head to the next; beyond `dim` lies the head's output gate.
    pub stride: usize,
}

/// RMSNorm over each head.
#[derive(Clone, Copy, Debug)]
pub struct HeadNorm<'a, T = f32> {
    /// `[dim]`, shared by all heads.
    pub weight: &'a [T],
    /// Epsilon.
    pub eps: T,
}

/// Cosines and sines of the tokens of one batch.
#[derive(Default)]
pub struct Rotation<T = f32> {
    tokens: usize,
    half: usize,
    /// `[tokens][half]` cosines, then as many sines.
    cos: Vec<T>,
    sin: Vec<T>,
}

impl<T: Real> Rotation<T> {
    /// Angles position · frequency, computed in f64.
    pub fn new(frequencies: &[f64], positions: impl Iterator<Item = usize>) -> Self {
        let (mut cos, mut sin, mut tokens) = (Vec::new(), Vec::new(), 0);
        for position in positions {
            for frequency in frequencies {
                let (s, c) = (position as f64 * frequency).sin_cos();
                cos.push(T::of(c));
                sin.push(T::of(s));
            }
            tokens += 1;
        }
        Rotation { tokens, half: frequencies.len(), cos, sin }
    }

    /// Norms (if asked) and rotates `[T, heads·stride]` rows into head-major `[heads][T][dim]`.
    pub fn forward(&self, layout: HeadRows, norm: Option<HeadNorm<'_, T>>, rows: &[T], out: &mut [T]) {
        let HeadRows { dim, stride } = layout;
        let width = rows.len() / self.tokens.max(1);
        out.par_chunks_mut((self.tokens * dim).max(1)).enumerate().for_each(|(head, out)| {
            for (t, out) in out.chunks_exact_mut(dim).enumerate() {
                let x = &rows[t * width + head * stride..][..dim];
                match norm {
                    None => out.copy_from_slice(x),
                    Some(HeadNorm { weight, eps }) => {
                        let r = inverse_rms(x, eps);
                        for ((out, x), w) in out.iter_mut().zip(x).zip(weight) {
                            *out = *w * (*x * r);
                        }
                    }
                }
                self.turn(t, out, T::ONE);
            }
        });
    }

    /// Backward: turns head-major gradients `[heads][T][dim]` back into the heads of `d_rows`, whose other elements
    /// stay. `rows` is the forward pass's input, read only for the norm's gradient.
    pub fn backward(&self, layout: HeadRows, norm: Option<HeadNorm<'_, T>>, rows: &[T], grads: &[T], d_rows: &mut [T]) {
        let HeadRows { dim, stride } = layout;
        let width = d_rows.len() / self.tokens.max(1);
        d_rows.par_chunks_mut(width.max(1)).enumerate().for_each_init(
            || vec![T::ZERO; dim],
            |turned, (t, row)| {
                for (head, out) in row.chunks_exact_mut(stride).enumerate() {
                    turned.copy_from_slice(&grads[(head * self.tokens + t) * dim..][..dim]);
                    self.turn(t, turned, -T::ONE);
                    let Some(HeadNorm { weight, eps }) = norm else {
                        out[..dim].copy_from_slice(turned);
                        continue;
                    };
                    let x = &rows[t * width + head * stride..][..dim];
                    turned.iter_mut().zip(weight).for_each(|(d, w)| *d *= *w);
                    out[..dim].fill(T::ZERO);
                    add_row_gradient(x, inverse_rms(x, eps), turned, &mut out[..dim]);
                }
            },
        );
    }

    /// (x₁, x₂) → (x₁ cos − x₂ sin, x₂ cos + x₁ sin) in place; the inverse has `sign` −1.
    fn turn(&self, token: usize, x: &mut [T], sign: T) {
        let half = self.half;
        let cos = &self.cos[token * half..][..half];
        let sin = &self.sin[token * half..][..half];
        let (x1, x2) = x[..2 * half].split_at_mut(half);
        for i in 0..half {
            let s = sin[i] * sign;
            let (a, b) = (x1[i], x2[i]);
            x1[i] = a * cos[i] - b * s;
            x2[i] = b * cos[i] + a * s;
        }
    }
}

/// `[T, heads·D]` rows into head-major `[heads][T][D]`, unrotated (values).
pub(crate) fn split_heads<T: Real>(rows: &[T], tokens: usize, dim: usize, out: &mut [T]) {
    let width = rows.len() / tokens.max(1);
    out.par_chunks_mut((tokens * dim).max(1)).enumerate().for_each(|(head, out)| {
        for (t, out) in out.chunks_exact_mut(dim).enumerate() {
            out.copy_from_slice(&rows[t * width + head * dim..][..dim]);
        }
    });
}

/// The inverse of [`split_heads`].
pub(crate) fn join_heads<T: Real>(heads: &[T], tokens: usize, dim: usize, out: &mut [T]) {
    let width = out.len() / tokens.max(1);
    out.par_chunks_mut(width.max(1)).enumerate().for_each(|(t, row)| {
        for (head, out) in row.chunks_exact_mut(dim).enumerate() {
            out.copy_from_slice(&heads[(head * tokens + t) * dim..][..dim]);
        }
    });
}

#[cfg(test)]
mod tests;
