//! AdamW with decoupled weight decay (Loshchilov and Hutter), in the form of PyTorch's `AdamW`.

use crate::adapter::{Adapter, AdapterGrads};
use rayon::prelude::*;

/// Elements one task takes.
const TASK: usize = 32 * 1024;

/// Settings of [`AdamW`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamWOptions {
    /// Learning rate at the schedule's peak.
    pub lr: f64,
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub eps: f64,
    /// Part of a parameter taken away per step, times the learning rate.
    pub weight_decay: f64,
}

impl Default for AdamWOptions {
    fn default() -> Self {
        AdamWOptions { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0 }
    }
}

/// Moments of every parameter and the number of steps taken.
pub struct AdamW {
    options: AdamWOptions,
    first: Vec<f32>,
    second: Vec<f32>,
    steps: u32,
}

impl AdamW {
    /// Zero moments for an adapter.
    pub fn new(adapter: &Adapter, options: AdamWOptions) -> Self {
        let zeros = vec![0.0; adapter.parameters()];
        AdamW { options, first: zeros.clone(), second: zeros, steps: 0 }
    }

    /// One step at learning rate `lr`, the gradients taken times `factor` (from clipping):
    /// p ← p·(1 − lr·wd); m ← β₁m + (1−β₁)g; v ← β₂v + (1−β₂)g²;
    /// p ← p − lr·(m/(1−β₁ᵗ)) / (√v/√(1−β₂ᵗ) + eps).
    pub fn step(&mut self, adapter: &mut Adapter, grads: &AdapterGrads, factor: f32, lr: f64) {
        self.steps += 1;
        let o = self.options;
        let t = f64::from(self.steps);
        let step_size = (lr / (1.0 - o.beta1.powf(t))) as f32;
        let root = (1.0 - o.beta2.powf(t)).sqrt() as f32;
        let decay = (1.0 - lr * o.weight_decay) as f32;
        let (beta1, beta2, eps) = (o.beta1 as f32, o.beta2 as f32, o.eps as f32);
        let (new1, new2) = ((1.0 - o.beta1) as f32, (1.0 - o.beta2) as f32);
        let parts = adapter.values.par_chunks_mut(TASK).zip(grads.values.par_chunks(TASK));
        let moments = self.first.par_chunks_mut(TASK).zip(self.second.par_chunks_mut(TASK));
        parts.zip(moments).for_each(|((p, g), (m, v))| {
            for (((p, g), m), v) in p.iter_mut().zip(g).zip(m).zip(v) {
                let g = g * factor;
                *m = beta1 * *m + new1 * g;
                *v = beta2 * *v + new2 * g * g;
                *p = *p * decay - step_size * *m / (v.sqrt() / root + eps);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::ProjectionShape;

    #[test]
    fn steps_follow_the_formula_in_f64() {
        let shape = ProjectionShape { name: "p".into(), out: 3, input: 2 };
        let mut adapter = Adapter::zeros(vec![shape], 1, 1.0, 0.0);
        adapter.values = vec![0.5, -1.0, 2.0, 0.0, 0.25];
        let options = AdamWOptions { lr: 0.01, beta1: 0.8, beta2: 0.95, eps: 1e-6, weight_decay: 0.1 };
        let mut optimizer = AdamW::new(&adapter, options);
        let mut exact: Vec<[f64; 3]> = adapter.values.iter().map(|p| [f64::from(*p), 0.0, 0.0]).collect();
        for step in 1..=6i32 {
            let grads: Vec<f32> = (0..5).map(|i| ((i * step) as f32 - 4.0) * 0.1).collect();
            let lr = 0.01 * f64::from(step);
            optimizer.step(&mut adapter, &AdapterGrads { values: grads.clone() }, 0.5, lr);
            for ([p, m, v], g) in exact.iter_mut().zip(grads) {
                let g = f64::from(g) * 0.5;
                *p *= 1.0 - lr * 0.1;
                *m = 0.8 * *m + 0.2 * g;
                *v = 0.95 * *v + 0.05 * g * g;
                let (m, v) = (*m / (1.0 - 0.8f64.powi(step)), *v / (1.0 - 0.95f64.powi(step)));
                *p -= lr * m / (v.sqrt() + 1e-6);
            }
        }
        for (p, [exact, ..]) in adapter.values.iter().zip(exact) {
            assert!((f64::from(*p) - exact).abs() < 1e-6, "{p} {exact}");
        }
    }
}
