//! l2 normalisation of queries and keys: y = scale · x · n with n = 1/√(Σx² + 1e-6), per head row.

use crate::nodes::Real;
use crate::nodes::reduce::{dot, sum_of_squares};

/// Of the architecture; not the model's norm epsilon.
const EPS: f64 = 1e-6;

#[inline(always)]
fn inverse_norm<T: Real>(x: &[T]) -> T {
    T::ONE / (sum_of_squares(x) + T::of(EPS)).sqrt()
}

/// `out = scale · x · n` for rows of `dim` elements.
#[inline(always)]
pub(super) fn l2_norm<T: Real>(x: &[T], dim: usize, scale: T, out: &mut [T]) {
    for (x, out) in x.chunks_exact(dim).zip(out.chunks_exact_mut(dim)) {
        let factor = inverse_norm(x) * scale;
        out.iter_mut().zip(x).for_each(|(out, x)| *out = *x * factor);
    }
}

/// Backward, in place of `dy`: dx = scale · (n·dy − x·n³·(x·dy)).
#[inline(always)]
pub(super) fn l2_norm_backward<T: Real>(x: &[T], dim: usize, scale: T, dy: &mut [T]) {
    for (x, dy) in x.chunks_exact(dim).zip(dy.chunks_exact_mut(dim)) {
        let n = inverse_norm(x);
        let along = n * n * dot(x, dy);
        dy.iter_mut().zip(x).for_each(|(dy, x)| *dy = scale * n * (*dy - *x * along));
    }
}
