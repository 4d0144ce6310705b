//! RMSNorm: y = w · x · r with r = 1/√(mean(x²) + eps), per row. Models that store their weight around 0 compute with
//! 1 + w, which is added once when the model is loaded.

use super::real::Real;
use super::reduce::{dot, sum_of_squares};
use super::vectorised::vectorised;
use rayon::prelude::*;

#[inline(always)]
pub(super) fn inverse_rms<T: Real>(x: &[T], eps: T) -> T {
    T::ONE / (sum_of_squares(x) / T::of(x.len() as f64) + eps).sqrt()
}

/// `out[t] = weight · x[t] · r[t]`; `x` and `out` are `[rows, weight.len()]`.
pub fn rms_norm<T: Real>(x: &[T], weight: &[T], eps: T, out: &mut [T]) {
    let width = weight.len();
    out.par_chunks_mut(width).zip(x.par_chunks(width)).for_each(|(out, x)| {
        vectorised(
            #[inline(always)]
            || {
                let r = inverse_rms(x, eps);
                for ((out, x), w) in out.iter_mut().zip(x).zip(weight) {
                    *out = *w * (*x * r);
                }
            },
        );
    });
}

/// Adds the gradient of the input to `dx`: with g = dy·w and n = x·r,
/// dx = r · (g − n · mean(g·n)). The weight is frozen and has no gradient.
pub fn rms_norm_backward<T: Real>(x: &[T], weight: &[T], eps: T, dy: &[T], dx: &mut [T]) {
    let width = weight.len();
    let rows = dx.par_chunks_mut(width).zip(dy.par_chunks(width)).zip(x.par_chunks(width));
    rows.for_each_init(
        || vec![T::ZERO; width],
        |g, ((dx, dy), x)| {
            vectorised(
                #[inline(always)]
                || {
                    for ((g, dy), w) in g.iter_mut().zip(dy).zip(weight) {
                        *g = *dy * *w;
                    }
                    add_row_gradient(x, inverse_rms(x, eps), g, dx);
                },
            );
        },
    );
}

/// dx += r · (g − n · mean(g·n)) for one row, g the gradient of n = x·r.
#[inline(always)]
pub(super) fn add_row_gradient<T: Real>(x: &[T], r: T, g: &[T], dx: &mut [T]) {
    let mean = dot(g, x) * r / T::of(x.len() as f64);
    for ((dx, g), x) in dx.iter_mut().zip(g).zip(x) {
        *dx += r * (*g - *x * r * mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::difference::{deviation, product, values};

    const ROWS: usize = 4;
    const WIDTH: usize = 21;

    #[test]
    fn forward_is_the_formula() {
        let (x, w, eps) = (values(1, ROWS * WIDTH, 3.0), values(2, WIDTH, 1.0), 1e-5);
        let narrow = |v: &[f64]| -> Vec<f32> { v.iter().map(|v| *v as f32).collect() };
        let mut y = vec![0.0f32; x.len()];
        rms_norm(&narrow(&x), &narrow(&w), eps as f32, &mut y);
        for (row, y) in x.chunks(WIDTH).zip(y.chunks(WIDTH)) {
            let r = 1.0 / (row.iter().map(|v| v * v).sum::<f64>() / WIDTH as f64 + eps).sqrt();
            for ((x, w), y) in row.iter().zip(&w).zip(y) {
                assert!((w * x * r - f64::from(*y)).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn backward_agrees_with_differences_and_adds() {
        let (x, w, dy) = (values(1, ROWS * WIDTH, 3.0), values(2, WIDTH, 1.0), values(3, ROWS * WIDTH, 1.0));
        // Small rows are where eps matters.
        for (scale, eps) in [(1.0, 1e-5), (1e-2, 1e-3)] {
            let x: Vec<f64> = x.iter().map(|v| v * scale).collect();
            let value = |x: &[f64]| {
                let mut y = vec![0.0; x.len()];
                rms_norm(x, &w, eps, &mut y);
                product(&y, &dy)
            };
            let start = values(4, x.len(), 1.0);
            let mut dx = start.clone();
            rms_norm_backward(&x, &w, eps, &dy, &mut dx);
            dx.iter_mut().zip(&start).for_each(|(dx, start)| *dx -= start);
            let off = deviation(&x, &dx, 1, value);
            assert!(off < 1e-7, "{off:e}");
        }
    }
}
