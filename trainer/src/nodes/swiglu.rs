//! SwiGLU: y = SiLU(gate) · up, with SiLU(g) = g·σ(g).

use super::real::Real;
use super::vectorised::vectorised;
use rayon::prelude::*;

/// Elements one task takes: enough to be worth a task, few enough to share out evenly.
const TASK: usize = 16 * 1024;

/// `out = SiLU(gate) · up`, elementwise.
pub fn swiglu<T: Real>(gate: &[T], up: &[T], out: &mut [T]) {
    out.par_chunks_mut(TASK).zip(gate.par_chunks(TASK)).zip(up.par_chunks(TASK)).for_each(|((out, gate), up)| {
        vectorised(
            #[inline(always)]
            || {
                for ((out, g), u) in out.iter_mut().zip(gate).zip(up) {
                    *out = *g * g.sigmoid() * *u;
                }
            },
        );
    });
}

/// Backward: `gate` becomes dgate and `up` becomes dup. With s = σ(g):
/// dup = dy·g·s, dgate = dy·u·s·(1 + g·(1 − s)).
pub fn swiglu_backward<T: Real>(gate: &mut [T], up: &mut [T], dy: &[T]) {
    gate.par_chunks_mut(TASK).zip(up.par_chunks_mut(TASK)).zip(dy.par_chunks(TASK)).for_each(|((gate, up), dy)| {
        vectorised(
            #[inline(always)]
            || {
                for ((gate, up), dy) in gate.iter_mut().zip(up.iter_mut()).zip(dy) {
                    let (g, u, s) = (*gate, *up, gate.sigmoid());
                    *up = *dy * g * s;
                    *gate = *dy * u * s * (T::ONE + g * (T::ONE - s));
                }
            },
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::difference::{deviation, product, values};

    #[test]
    fn forward_is_the_formula_and_backward_agrees_with_differences() {
        let (gate, up, dy) = (values(1, 400, 8.0), values(2, 400, 8.0), values(3, 400, 1.0));
        let mut y = vec![0.0f32; gate.len()];
        let narrow = |v: &[f64]| -> Vec<f32> { v.iter().map(|v| *v as f32).collect() };
        swiglu(&narrow(&gate), &narrow(&up), &mut y);
        for ((g, u), y) in gate.iter().zip(&up).zip(&y) {
            assert!((f64::from(*y) - g / (1.0 + (-g).exp()) * u).abs() < 1e-5);
        }
        let value = |gate: &[f64], up: &[f64]| {
            let mut y = vec![0.0; gate.len()];
            swiglu(gate, up, &mut y);
            product(&y, &dy)
        };
        let (mut d_gate, mut d_up) = (gate.clone(), up.clone());
        swiglu_backward(&mut d_gate, &mut d_up, &dy);
        assert!(deviation(&gate, &d_gate, 1, |moved| value(moved, &up)) < 1e-8);
        assert!(deviation(&up, &d_up, 1, |moved| value(&gate, moved)) < 1e-8);
    }
}
