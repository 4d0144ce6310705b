//! Clipping by the norm of all gradients together.

use crate::adapter::AdapterGrads;
use rayon::prelude::*;

/// Elements summed by one task; the tasks' sums are added in order, so the bits do not depend on
/// which finishes first.
const TASK: usize = 32 * 1024;

/// √(Σ g²) over all gradients, in f64.
pub fn global_norm(grads: &AdapterGrads) -> f64 {
    let square = |part: &[f32]| part.iter().map(|g| f64::from(*g) * f64::from(*g)).sum::<f64>();
    let sums: Vec<f64> = grads.values.par_chunks(TASK).map(square).collect();
    sums.iter().sum::<f64>().sqrt()
}

/// Factor that brings a gradient of norm `norm` to `max_norm`: min(1, max / (norm + 1e−6)), as
/// PyTorch's `clip_grad_norm_`; 1 without a limit.
pub fn clip(norm: f64, max_norm: Option<f64>) -> f32 {
    max_norm.map_or(1.0, |max| (max / (norm + 1e-6)).min(1.0) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norm_and_factor() {
        let grads = AdapterGrads { values: vec![3.0, 0.0, -4.0] };
        assert_eq!(global_norm(&grads), 5.0);
        assert!((clip(5.0, Some(1.0)) - 0.2).abs() < 1e-6);
        assert_eq!(clip(0.5, Some(1.0)), 1.0);
        assert_eq!(clip(5.0, None), 1.0);
    }
}
