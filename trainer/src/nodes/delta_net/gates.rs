//! The two gates of a value head: how much of a value is written, β = σ(b), and how much of the state is kept,
//! decay = e^g with g = −rate·softplus(a + dt_bias) ≤ 0.

use crate::nodes::Real;

/// From here on softplus(x) is x to the last bit of f32, as in PyTorch.
const LINEAR: f64 = 20.0;

#[inline(always)]
fn softplus<T: Real>(x: T) -> T {
    if x > T::of(LINEAR) { x } else { x.exp().ln_1p() }
}

/// g of one token and value head.
#[inline(always)]
pub(super) fn log_decay<T: Real>(a: T, dt_bias: T, rate: T) -> T {
    -rate * softplus(a + dt_bias)
}

/// da = dg · (−rate) · σ(a + dt_bias).
#[inline(always)]
pub(super) fn log_decay_backward<T: Real>(a: T, dt_bias: T, rate: T, dg: T) -> T {
    -dg * rate * (a + dt_bias).sigmoid()
}

/// db = dβ · β · (1 − β).
#[inline(always)]
pub(super) fn write_gate_backward<T: Real>(beta: T, d_beta: T) -> T {
    d_beta * beta * (T::ONE - beta)
}
