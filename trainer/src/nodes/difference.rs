//! Finite differences in f64, for the tests of every node's backward pass.

/// Largest |gradient − slope| over the largest |slope|, slopes by central differences of `value` around `at` in every
/// `stride`-th element.
pub(crate) fn deviation(at: &[f64], gradient: &[f64], stride: usize, value: impl Fn(&[f64]) -> f64) -> f64 {
    assert_eq!(at.len(), gradient.len());
    let step = 1e-5;
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    let mut moved = at.to_vec();
    for i in (0..at.len()).step_by(stride) {
        moved[i] = at[i] + step;
        let high = value(&moved);
        moved[i] = at[i] - step;
        let slope = (high - value(&moved)) / (2.0 * step);
        moved[i] = at[i];
        worst = worst.max((gradient[i] - slope).abs());
        largest = largest.max(slope.abs());
    }
    assert!(largest > 0.0, "nothing moves");
    worst / largest
}

/// Σ a·b.
pub(crate) fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Values in [−scale, scale).
pub(crate) fn values(seed: u64, len: usize, scale: f64) -> Vec<f64> {
    super::dropout::test_values(seed, len).into_iter().map(|v| f64::from(v) * scale).collect()
}
