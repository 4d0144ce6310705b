//! Output of a value head: y = w · r(o) · SiLU(z), r the RMS normalisation over the head: normalise, weight, then gate.

use super::convolution::{silu, silu_slope};
use crate::nodes::Real;
use crate::nodes::rms_norm::{add_row_gradient, inverse_rms};

/// One row: `out = w · (o · r) · SiLU(z)`.
#[inline(always)]
pub(super) fn gated_norm<T: Real>(o: &[T], z: &[T], weight: &[T], eps: T, out: &mut [T]) {
    let r = inverse_rms(o, eps);
    for (((out, o), z), w) in out.iter_mut().zip(o).zip(z).zip(weight) {
        *out = *w * (*o * r) * silu(*z);
    }
}

/// Backward of one row: writes dz = dy·w·n·SiLU′(z), and do by way of g = dy·w·SiLU(z), the gradient of n = o·r.
#[inline(always)]
pub(super) fn gated_norm_backward<T: Real>(
    (o, z): (&[T], &[T]),
    weight: &[T],
    eps: T,
    dy: &[T],
    (d_o, dz): (&mut [T], &mut [T]),
    g: &mut [T],
) {
    let r = inverse_rms(o, eps);
    for i in 0..o.len() {
        let weighted = dy[i] * weight[i];
        g[i] = weighted * silu(z[i]);
        dz[i] = weighted * (o[i] * r) * silu_slope(z[i]);
    }
    d_o.fill(T::ZERO);
    add_row_gradient(o, r, g, d_o);
}
