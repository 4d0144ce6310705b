//! Operators that read one or two tensors of one shape and write a new one.

use std::sync::Arc;

use rayon::prelude::*;
use trainer::nodes::{Real, exp, vectorised};

use super::tape::{Tape, Tensor, Var};

/// Elements of one task, as in the trainer's own elementwise nodes.
const TASK: usize = 16 * 1024;

/// `f(x)` of every element.
pub fn map(x: &[f32], f: impl Fn(f32) -> f32 + Sync) -> Tensor {
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(TASK).zip(x.par_chunks(TASK)).for_each(|(out, x)| {
        vectorised(
            #[inline(always)]
            || out.iter_mut().zip(x).for_each(|(out, x)| *out = f(*x)),
        );
    });
    Arc::new(out)
}

/// `f(a, b)` of every pair of elements.
pub fn zip(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32 + Sync) -> Tensor {
    let mut out = vec![0.0; a.len()];
    out.par_chunks_mut(TASK).zip(a.par_chunks(TASK)).zip(b.par_chunks(TASK)).for_each(|((out, a), b)| {
        vectorised(
            #[inline(always)]
            || out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out = f(*a, *b)),
        );
    });
    Arc::new(out)
}

/// `to += from`.
pub fn add_to(to: &mut [f32], from: &[f32]) {
    to.par_chunks_mut(TASK).zip(from.par_chunks(TASK)).for_each(|(to, from)| {
        vectorised(
            #[inline(always)]
            || to.iter_mut().zip(from).for_each(|(to, from)| *to += from),
        );
    });
}

/// x·σ(x).
pub fn silu(tape: &mut Tape, x: &Var) -> Var {
    let y = map(&x.values, |x| x * x.sigmoid());
    let kept = x.values.clone();
    tape.record("SiLU", &[x], y, move |dy| {
        let slope = |dy: f32, x: f32| {
            let s = x.sigmoid();
            dy * s * (1.0 + x * (1.0 - s))
        };
        vec![Some(zip(dy, &kept, slope))]
    })
}

/// σ(x).
pub fn sigmoid(tape: &mut Tape, x: &Var) -> Var {
    let y = map(&x.values, |x| x.sigmoid());
    let kept = y.clone();
    tape.record("sigmoid", &[x], y, move |dy| vec![Some(zip(dy, &kept, |dy, y| dy * y * (1.0 - y)))])
}

/// ln(1 + e^x).
pub fn softplus(tape: &mut Tape, x: &Var) -> Var {
    let y = map(&x.values, |x| if x > 20.0 { x } else { exp(x).ln_1p() });
    let kept = x.values.clone();
    tape.record("softplus, decay", &[x], y, move |dy| vec![Some(zip(dy, &kept, |dy, x| dy * x.sigmoid()))])
}

/// e^x.
pub fn exponential(tape: &mut Tape, x: &Var) -> Var {
    let y = map(&x.values, exp);
    let kept = y.clone();
    tape.record("softplus, decay", &[x], y, move |dy| vec![Some(zip(dy, &kept, |dy, y| dy * y))])
}

/// a·b.
pub fn mul(tape: &mut Tape, a: &Var, b: &Var) -> Var {
    let y = zip(&a.values, &b.values, |a, b| a * b);
    let (a_kept, b_kept) = (a.values.clone(), b.values.clone());
    tape.record("multiply", &[a, b], y, move |dy| {
        vec![Some(zip(dy, &b_kept, |dy, b| dy * b)), Some(zip(dy, &a_kept, |dy, a| dy * a))]
    })
}

/// a + b.
pub fn add(tape: &mut Tape, a: &Var, b: &Var) -> Var {
    let y = zip(&a.values, &b.values, |a, b| a + b);
    tape.record("add", &[a, b], y, |dy| vec![Some(dy.clone()), Some(dy.clone())])
}

/// factor·x.
pub fn scale(tape: &mut Tape, x: &Var, factor: f32) -> Var {
    let y = map(&x.values, |x| factor * x);
    tape.record("scale", &[x], y, move |dy| vec![Some(map(dy, |dy| factor * dy))])
}

/// Adds a frozen row to every row of x.
pub fn add_row(tape: &mut Tape, x: &Var, row: &Tensor) -> Var {
    let mut y = x.values.as_ref().clone();
    y.chunks_exact_mut(row.len()).for_each(|y| y.iter_mut().zip(row.iter()).for_each(|(y, r)| *y += r));
    tape.record("softplus, decay", &[x], Arc::new(y), |dy| vec![Some(dy.clone())])
}

/// Multiplies every row of x with a frozen row.
pub fn mul_row(tape: &mut Tape, x: &Var, row: &Tensor) -> Var {
    let times = |x: &[f32], row: &[f32]| {
        let mut y = x.to_vec();
        y.chunks_exact_mut(row.len()).for_each(|y| y.iter_mut().zip(row).for_each(|(y, r)| *y *= r));
        Arc::new(y)
    };
    let y = times(&x.values, row);
    let row = row.clone();
    tape.record("softplus, decay", &[x], y, move |dy| vec![Some(times(dy, &row))])
}
