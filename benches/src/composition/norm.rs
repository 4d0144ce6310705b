//! Normalisations over rows.

use std::sync::Arc;

use rayon::prelude::*;
use trainer::nodes::{dot, rms_norm as norm_rows, rms_norm_backward, sum_of_squares, vectorised};

use super::tape::{Tape, Tensor, Var};

/// Epsilon of the delta rule's queries and keys.
const L2_EPS: f32 = 1e-6;
/// Rows of one task of the l2 norm.
const ROWS: usize = 64;

/// A frozen RMSNorm over rows as long as its weight.
#[derive(Clone)]
pub struct RmsNorm {
    /// As it multiplies.
    pub weight: Tensor,
    /// Epsilon.
    pub eps: f32,
}

/// w·x/√(mean(x²) + eps).
pub fn rms_norm(tape: &mut Tape, x: &Var, norm: &RmsNorm) -> Var {
    let mut y = vec![0.0; x.values.len()];
    norm_rows(&x.values, &norm.weight, norm.eps, &mut y);
    let (kept, norm) = (x.values.clone(), norm.clone());
    tape.record("RMSNorm", &[x], Arc::new(y), move |dy| {
        let mut dx = vec![0.0; kept.len()];
        rms_norm_backward(&kept, &norm.weight, norm.eps, dy, &mut dx);
        vec![Some(Arc::new(dx))]
    })
}

/// x/√(Σx² + 1e-6) over rows of `dim` elements.
pub fn l2_norm(tape: &mut Tape, x: &Var, dim: usize) -> Var {
    let mut y = vec![0.0; x.values.len()];
    y.par_chunks_mut(ROWS * dim).zip(x.values.par_chunks(ROWS * dim)).for_each(|(y, x)| {
        vectorised(
            #[inline(always)]
            || {
                for (y, x) in y.chunks_exact_mut(dim).zip(x.chunks_exact(dim)) {
                    let n = inverse_norm(x);
                    y.iter_mut().zip(x).for_each(|(y, x)| *y = *x * n);
                }
            },
        );
    });
    let kept = x.values.clone();
    tape.record("l2 norm", &[x], Arc::new(y), move |dy| vec![Some(l2_norm_backward(&kept, dy, dim))])
}

fn l2_norm_backward(x: &[f32], dy: &[f32], dim: usize) -> Tensor {
    let mut dx = vec![0.0; x.len()];
    let rows = dx.par_chunks_mut(ROWS * dim).zip(x.par_chunks(ROWS * dim)).zip(dy.par_chunks(ROWS * dim));
    rows.for_each(|((dx, x), dy)| {
        vectorised(
            #[inline(always)]
            || {
                for ((dx, x), dy) in dx.chunks_exact_mut(dim).zip(x.chunks_exact(dim)).zip(dy.chunks_exact(dim)) {
                    let n = inverse_norm(x);
                    let along = n * n * dot(x, dy);
                    dx.iter_mut().zip(x).zip(dy).for_each(|((dx, x), dy)| *dx = n * (*dy - *x * along));
                }
            },
        );
    });
    Arc::new(dx)
}

#[inline(always)]
fn inverse_norm(x: &[f32]) -> f32 {
    1.0 / (sum_of_squares(x) + L2_EPS).sqrt()
}
