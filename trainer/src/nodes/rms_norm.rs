//! RMSNorm: y = w · x · r with r = 1/√(mean(x²) + eps), per row.

use super::cost::Cost;
use super::reduce::{dot, sum_of_squares};
use rayon::prelude::*;

fn inverse_rms(x: &[f32], eps: f32) -> f32 {
    1.0 / (sum_of_squares(x) / x.len() as f32 + eps).sqrt()
}

/// `out[t] = weight · x[t] · r[t]`; `x` and `out` are `[rows, weight.len()]`.
pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let width = weight.len();
    out.par_chunks_mut(width).zip(x.par_chunks(width)).for_each(|(out, x)| {
        let r = inverse_rms(x, eps);
        for ((out, x), w) in out.iter_mut().zip(x).zip(weight) {
            *out = w * (x * r);
        }
    });
}

/// Adds the gradient of the input to `dx`: with g = dy·w and n = x·r,
/// dx = r · (g − n · mean(g·n)). The weight is frozen and has no gradient.
pub fn rms_norm_backward(x: &[f32], weight: &[f32], eps: f32, dy: &[f32], dx: &mut [f32]) {
    let width = weight.len();
    let rows = dx.par_chunks_mut(width).zip(dy.par_chunks(width)).zip(x.par_chunks(width));
    rows.for_each_init(
        || vec![0.0; width],
        |g, ((dx, dy), x)| {
            let r = inverse_rms(x, eps);
            for ((g, dy), w) in g.iter_mut().zip(dy).zip(weight) {
                *g = dy * w;
            }
            let mean = dot(g, x) * r / width as f32;
            for ((dx, g), x) in dx.iter_mut().zip(g.iter()).zip(x) {
                *dx += r * (g - x * r * mean);
            }
        },
    );
}

/// Cost of one row of `width` elements.
pub fn rms_norm_cost(width: usize) -> Cost {
    Cost { flops: 4 * width as u64, bytes: 4 * width as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::dropout::test_values;

    fn plain(x: &[f64], w: &[f32], eps: f64) -> Vec<f64> {
        let width = w.len();
        let mut y = Vec::new();
        for row in x.chunks(width) {
            let mean = row.iter().map(|v| v * v).sum::<f64>() / width as f64;
            let r = 1.0 / (mean + eps).sqrt();
            y.extend(row.iter().zip(w).map(|(v, w)| f64::from(*w) * v * r));
        }
        y
    }

    #[test]
    fn forward_and_backward_agree_with_f64() {
        let (rows, width, eps) = (3, 37, 1e-5f32);
        let (x, w, dy) = (test_values(1, rows * width), test_values(2, width), test_values(3, rows * width));
        let mut y = vec![0.0; rows * width];
        rms_norm(&x, &w, eps, &mut y);
        let wide: Vec<f64> = x.iter().map(|&v| v.into()).collect();
        for (y, exact) in y.iter().zip(plain(&wide, &w, eps.into())) {
            assert!((f64::from(*y) - exact).abs() < 1e-5);
        }
        let start = test_values(4, rows * width);
        let mut dx = start.clone();
        rms_norm_backward(&x, &w, eps, &dy, &mut dx);
        let value =
            |x: &[f64]| -> f64 { plain(x, &w, eps.into()).iter().zip(&dy).map(|(y, d)| y * f64::from(*d)).sum() };
        for i in 0..x.len() {
            let mut moved = wide.clone();
            moved[i] += 1e-5;
            let high = value(&moved);
            moved[i] -= 2e-5;
            let slope = (high - value(&moved)) / 2e-5;
            assert!((f64::from(dx[i] - start[i]) - slope).abs() < 1e-5, "element {i}");
        }
    }
}
