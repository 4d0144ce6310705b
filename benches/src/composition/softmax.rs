//! Mask, softmax and loss, each over whole matrices.

use std::sync::Arc;

use rayon::prelude::*;
use trainer::nodes::{exp, max, sum, vectorised};

use super::tape::{Tape, Tensor, Var};

/// Values whose exponentials are summed at a time.
const PART: usize = 1024;
/// e to this power is still far from a denormal number.
const SMALLEST: f32 = -80.0;

/// −∞ above the diagonal of square matrices.
pub fn causal_mask(tape: &mut Tape, x: &Var, tokens: usize) -> Var {
    let mut y = vec![0.0; x.values.len()];
    y.par_chunks_mut(tokens).zip(x.values.par_chunks(tokens)).enumerate().for_each(|(row, (y, x))| {
        let seen = row % tokens + 1;
        y[..seen].copy_from_slice(&x[..seen]);
        y[seen..].fill(f32::NEG_INFINITY);
    });
    tape.record("mask", &[x], Arc::new(y), |dy| vec![Some(dy.clone())])
}

/// Runs `work` on every row of `out` and the same rows of two tensors.
fn rows(width: usize, (a, b): (&[f32], &[f32]), work: impl Fn(&mut [f32], &[f32], &[f32]) + Sync) -> Tensor {
    let mut out = vec![0.0; a.len()];
    out.par_chunks_mut(width).zip(a.par_chunks(width)).zip(b.par_chunks(width)).for_each(|((out, a), b)| {
        vectorised(
            #[inline(always)]
            || work(out, a, b),
        );
    });
    Arc::new(out)
}

/// Softmax of every row.
pub fn softmax(tape: &mut Tape, x: &Var, width: usize) -> Var {
    let y = rows(
        width,
        (&x.values, &x.values),
        #[inline(always)]
        |y, x, _| {
            let peak = max(x);
            // The trainer's exponential never reaches 0; what is masked must, because products of denormal numbers are slow.
            y.iter_mut().zip(x).for_each(|(y, x)| *y = if *x - peak < SMALLEST { 0.0 } else { exp(*x - peak) });
            let factor = 1.0 / sum(y);
            y.iter_mut().for_each(|y| *y *= factor);
        },
    );
    let kept = y.clone();
    tape.record("softmax", &[x], y, move |dy| {
        vec![Some(rows(
            width,
            (&kept, dy),
            #[inline(always)]
            |dx, y, dy| {
                let inner = trainer::nodes::dot(y, dy);
                dx.iter_mut().zip(y).zip(dy).for_each(|((dx, y), dy)| *dx = y * (dy - inner));
            },
        ))]
    })
}

/// Log of the softmax of every row.
pub fn log_softmax(tape: &mut Tape, x: &Var, width: usize) -> Var {
    let y = rows(
        width,
        (&x.values, &x.values),
        #[inline(always)]
        |y, x, _| {
            let peak = max(x);
            let mut terms = [0.0; PART];
            let mut total = 0.0;
            for x in x.chunks(PART) {
                let terms = &mut terms[..x.len()];
                terms.iter_mut().zip(x).for_each(|(term, x)| *term = exp(*x - peak));
                total += f64::from(sum(terms));
            }
            let log_sum = (f64::from(peak) + total.ln()) as f32;
            y.iter_mut().zip(x).for_each(|(y, x)| *y = x - log_sum);
        },
    );
    let kept = y.clone();
    tape.record("log softmax", &[x], y, move |dy| {
        vec![Some(rows(
            width,
            (&kept, dy),
            #[inline(always)]
            |dx, y, dy| {
                let total = sum(dy);
                dx.iter_mut().zip(y).zip(dy).for_each(|((dx, y), dy)| *dx = dy - exp(*y) * total);
            },
        ))]
    })
}

/// Mean of −log p over the rows that have a target: row t predicts `targets[t]`.
pub fn mean_loss(tape: &mut Tape, log_probs: &Var, width: usize, targets: &[u32]) -> Var {
    let picked = log_probs.values.chunks_exact(width).zip(targets).map(|(row, t)| f64::from(row[*t as usize]));
    let loss = (-picked.sum::<f64>() / targets.len() as f64) as f32;
    let (len, targets) = (log_probs.values.len(), targets.to_vec());
    tape.record("loss", &[log_probs], Arc::new(vec![loss]), move |dy| {
        let mut dx = vec![0.0; len];
        let share = -dy[0] / targets.len() as f32;
        dx.chunks_exact_mut(width).zip(&targets).for_each(|(row, t)| row[*t as usize] = share);
        vec![Some(Arc::new(dx))]
    })
}
