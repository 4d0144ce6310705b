//! SwiGLU: y = SiLU(gate) · up, with SiLU(g) = g·σ(g).

use super::cost::Cost;
use super::exp::sigmoid;
use rayon::prelude::*;

/// Elements one task takes: enough to be worth a task, few enough to share out evenly.
const TASK: usize = 16 * 1024;

/// `out = SiLU(gate) · up`, elementwise.
pub fn swiglu(gate: &[f32], up: &[f32], out: &mut [f32]) {
    out.par_chunks_mut(TASK).zip(gate.par_chunks(TASK)).zip(up.par_chunks(TASK)).for_each(|((out, gate), up)| {
        for ((out, g), u) in out.iter_mut().zip(gate).zip(up) {
            *out = g * sigmoid(*g) * u;
        }
    });
}

/// Backward: `gate` becomes dgate and `up` becomes dup. With s = σ(g):
/// dup = dy·g·s, dgate = dy·u·s·(1 + g·(1 − s)).
pub fn swiglu_backward(gate: &mut [f32], up: &mut [f32], dy: &[f32]) {
    gate.par_chunks_mut(TASK).zip(up.par_chunks_mut(TASK)).zip(dy.par_chunks(TASK)).for_each(|((gate, up), dy)| {
        for ((gate, up), dy) in gate.iter_mut().zip(up).zip(dy) {
            let (g, u, s) = (*gate, *up, sigmoid(*gate));
            *up = dy * g * s;
            *gate = dy * u * s * (1.0 + g * (1.0 - s));
        }
    });
}

/// Cost of one row of `width` elements (an exponential counts as 16).
pub fn swiglu_cost(width: usize) -> Cost {
    Cost { flops: 20 * width as u64, bytes: 4 * width as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::dropout::test_values;

    #[test]
    fn forward_and_backward_agree_with_f64() {
        let scaled = |seed| -> Vec<f32> { test_values(seed, 400).iter().map(|v| v * 8.0).collect() };
        let (gate, up, dy) = (scaled(1), scaled(2), scaled(3));
        let value = |g: f64, u: f64| g / (1.0 + (-g).exp()) * u;
        let mut y = vec![0.0; gate.len()];
        swiglu(&gate, &up, &mut y);
        let (mut dgate, mut dup) = (gate.clone(), up.clone());
        swiglu_backward(&mut dgate, &mut dup, &dy);
        for i in 0..gate.len() {
            let (g, u, d) = (f64::from(gate[i]), f64::from(up[i]), f64::from(dy[i]));
            assert!((f64::from(y[i]) - value(g, u)).abs() < 1e-5);
            let slope = (value(g + 1e-5, u) - value(g - 1e-5, u)) / 2e-5 * d;
            assert!((f64::from(dgate[i]) - slope).abs() < 1e-4 * (1.0 + slope.abs()));
            assert!((f64::from(dup[i]) - d * value(g, 1.0)).abs() < 1e-4);
        }
    }
}
