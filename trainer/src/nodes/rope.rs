//! Rotary position embedding, half split: elements i and i + D/2 of a head are a pair.
//! Frequencies θ^(−2i/D), optionally with Llama 3's scaling (`rope_type: llama3` of Hugging Face
//! configurations).

use crate::registry::{Llama3Scaling, Rope};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Inverse frequency of each pair, in radians per position.
pub(crate) fn inverse_frequencies(rope: &Rope, head_dim: usize) -> Vec<f64> {
    let frequency = |i: usize| rope.theta.powf(-2.0 * i as f64 / head_dim as f64);
    let plain = (0..head_dim / 2).map(frequency);
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

/// Cosines and sines of the tokens of one batch.
#[derive(Default)]
pub struct Rotation {
    tokens: usize,
    half: usize,
    /// `[tokens][half]` cosines, then as many sines.
    cos: Vec<f32>,
    sin: Vec<f32>,
}

impl Rotation {
    /// Angles position · frequency, computed in f64.
    pub fn new(frequencies: &[f64], positions: impl Iterator<Item = usize>) -> Self {
        let (mut cos, mut sin, mut tokens) = (Vec::new(), Vec::new(), 0);
        for position in positions {
            for frequency in frequencies {
                let (s, c) = (position as f64 * frequency).sin_cos();
                cos.push(c as f32);
                sin.push(s as f32);
            }
            tokens += 1;
        }
        Rotation { tokens, half: frequencies.len(), cos, sin }
    }

    /// Rotates `[T, heads·D]` rows into head-major `[heads][T][D]`.
    pub fn forward(&self, rows: &[f32], out: &mut [f32]) {
        let dim = 2 * self.half;
        let width = rows.len() / self.tokens.max(1);
        out.par_chunks_mut((self.tokens * dim).max(1)).enumerate().for_each(|(head, out)| {
            for (t, out) in out.chunks_exact_mut(dim).enumerate() {
                let x = &rows[t * width + head * dim..][..dim];
                self.turn(t, x, out, 1.0);
            }
        });
    }

    /// Backward: head-major gradients `[heads][T][D]` turned back into `[T, heads·D]` rows.
    pub fn backward(&self, grads: &[f32], out: &mut [f32]) {
        let dim = 2 * self.half;
        let width = out.len() / self.tokens.max(1);
        out.par_chunks_mut(width.max(1)).enumerate().for_each(|(t, row)| {
            for (head, out) in row.chunks_exact_mut(dim).enumerate() {
                let x = &grads[(head * self.tokens + t) * dim..][..dim];
                self.turn(t, x, out, -1.0);
            }
        });
    }

    /// (x₁, x₂) → (x₁ cos − x₂ sin, x₂ cos + x₁ sin); the inverse has `sign` −1.
    fn turn(&self, token: usize, x: &[f32], out: &mut [f32], sign: f32) {
        let half = self.half;
        let cos = &self.cos[token * half..][..half];
        let sin = &self.sin[token * half..][..half];
        let (x1, x2) = x.split_at(half);
        let (y1, y2) = out.split_at_mut(half);
        for i in 0..half {
            let s = sin[i] * sign;
            y1[i] = x1[i] * cos[i] - x2[i] * s;
            y2[i] = x2[i] * cos[i] + x1[i] * s;
        }
    }
}

/// `[T, heads·D]` rows into head-major `[heads][T][D]`, unrotated (values).
pub(crate) fn split_heads(rows: &[f32], tokens: usize, dim: usize, out: &mut [f32]) {
    let width = rows.len() / tokens.max(1);
    out.par_chunks_mut((tokens * dim).max(1)).enumerate().for_each(|(head, out)| {
        for (t, out) in out.chunks_exact_mut(dim).enumerate() {
            out.copy_from_slice(&rows[t * width + head * dim..][..dim]);
        }
    });
}

/// The inverse of [`split_heads`].
pub(crate) fn join_heads(heads: &[f32], tokens: usize, dim: usize, out: &mut [f32]) {
    let width = out.len() / tokens.max(1);
    out.par_chunks_mut(width.max(1)).enumerate().for_each(|(t, row)| {
        for (head, out) in row.chunks_exact_mut(dim).enumerate() {
            out.copy_from_slice(&heads[(head * tokens + t) * dim..][..dim]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::dropout::test_values;

    #[test]
    fn backward_is_the_transpose_of_forward() {
        let (tokens, heads, dim) = (5, 3, 8);
        let rope = Rope { theta: 1e4, scaling: None };
        let rotation = Rotation::new(&inverse_frequencies(&rope, dim), 2..2 + tokens);
        let x = test_values(1, tokens * heads * dim);
        let g = test_values(2, tokens * heads * dim);
        let (mut y, mut dx) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        rotation.forward(&x, &mut y);
        rotation.backward(&g, &mut dx);
        let product =
            |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum() };
        assert!((product(&y, &g) - product(&x, &dx)).abs() < 1e-5);
        // A rotation keeps lengths.
        assert!((product(&y, &y) - product(&x, &x)).abs() < 1e-4);
    }

    #[test]
    fn pairs_are_half_a_head_apart() {
        let rope = Rope { theta: 100.0, scaling: None };
        let rotation = Rotation::new(&inverse_frequencies(&rope, 4), std::iter::once(3));
        let mut y = [0.0; 4];
        rotation.forward(&[1.0, 0.0, 0.0, 2.0], &mut y);
        let (slow, fast) = (0.3f32, 3.0f32);
        let exact = [fast.cos(), -2.0 * slow.sin(), fast.sin(), 2.0 * slow.cos()];
        for (y, exact) in y.iter().zip(exact) {
            assert!((y - exact).abs() < 1e-6);
        }
    }

    #[test]
    fn llama3_scaling_has_three_bands() {
        let scaling = Llama3Scaling { factor: 32.0, low_freq: 1.0, high_freq: 4.0, original_positions: 64.0 };
        let of_turns = |turns: f64| turns * TAU / 64.0;
        assert!((stretch(of_turns(0.5), &scaling) - of_turns(0.5) / 32.0).abs() < 1e-12);
        assert!((stretch(of_turns(5.0), &scaling) - of_turns(5.0)).abs() < 1e-12);
        let between = stretch(of_turns(2.5), &scaling) / of_turns(2.5);
        assert!((between - 0.5 * (1.0 + 1.0 / 32.0)).abs() < 1e-12);
    }
}
