//! Backward of one chunk of the delta rule.
//!
//! With G the gradient of the state at the chunk's end and do that of the outputs, in the notation of the forward pass
//! (A_ij = D_ij q_i·k_j, L_ij = β_i D_ij k_i·k_j for j < i):
//!   dd = Aᵀ do + E ∘ (K G);   (I + L)ᵀ y = dd, solved from the last token on;
//!   dv = β y;   dβ_i = y_i·x_i;
//!   d(k_i·k_j) = −D_ij dv_i·d_j (j < i);   d(q_i·k_j) = D_ij do_i·d_j (j ≤ i);
//!   with R = [−Γ dv; Γ do]: [dK; dQ] += R Sᵀ, dS = Γ_last G + [K; Q]ᵀ R;   dk_j += E_j G d_j.
//! Every term that holds D_ij or Γ_i is linear in it, so its share of the gradient of log D_ij = g_{j+1} + … + g_i is the
//! term itself: it is added at i and taken off at j, and the gradient of g_s is the sum over all i ≥ s.

use super::chunk::{Decays, Keys, Solved};
use crate::nodes::Real;
use crate::nodes::product::{Matrix, MatrixMut, Threads, multiply};
use crate::nodes::reduce::dot;

/// Gradients that the value heads of a key head add up, of one chunk.
pub(super) struct KeyGrads<T> {
    /// dK over dQ, `[2n, key_dim]`.
    pub rows: Vec<T>,
    /// d(k_i·k_j) over d(q_i·k_j), `[2n, n]`.
    products: Vec<T>,
}

impl<T: Real> KeyGrads<T> {
    #[inline(always)]
    pub fn zeros(keys: &Keys<T>) -> Self {
        let (n, dim) = (keys.n, keys.dim);
        KeyGrads { rows: vec![T::ZERO; 2 * n * dim], products: vec![T::ZERO; 2 * n * n] }
    }

    /// Takes the gradients of the products to the rows: both factors of k_i·k_j, and of q_i·k_j.
    #[inline(always)]
    pub fn finish(&mut self, keys: &Keys<T>) {
        let (n, dim) = (keys.n, keys.dim);
        let products = Matrix::new(&self.products, 2 * n, n);
        multiply(MatrixMut::new(&mut self.rows, 2 * n, dim), true, T::ONE, products, keys.keys(), Threads::One);
        let of_keys = MatrixMut::new(&mut self.rows[..n * dim], n, dim);
        multiply(of_keys, true, T::ONE, products.transposed(), keys.stacked(), Threads::One);
    }
}

/// Gradients of one value head over one chunk.
pub(super) struct HeadGrads<'a, T> {
    /// dv, `[n, width]`.
    pub values: &'a mut [T],
    /// dβ, `[n]`.
    pub beta: &'a mut [T],
    /// dg, `[n]`.
    pub log_decay: &'a mut [T],
}

/// One value head over one chunk. `state` is the state at the chunk's start, `d_state` the gradient of that at its end,
/// which becomes that of the start. Both are `[key_dim, width]`.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(super) fn backward<T: Real>(
    keys: &Keys<T>,
    decays: &Decays<T>,
    beta: &[T],
    state: &[T],
    solved: &Solved<'_, T>,
    d_out: &[T],
    d_state: &mut [T],
    key_grads: &mut KeyGrads<T>,
    grads: &mut HeadGrads<'_, T>,
) {
    let (n, dim) = (keys.n, keys.dim);
    let width = state.len() / dim;
    let row = |i: usize| i * width..(i + 1) * width;
    let d = Matrix::new(&*solved.d, n, width);
    // Shares of the gradient of each prefix sum of g; summed up at the end.
    let mut along = vec![T::ZERO; n];

    // Out of the state at the end.
    let mut y = vec![T::ZERO; n * width];
    let after = Matrix::new(&*d_state, dim, width);
    multiply(MatrixMut::new(&mut y, n, width), false, T::ONE, keys.keys(), after, Threads::One);
    let mut written = vec![T::ZERO; n * dim];
    multiply(MatrixMut::new(&mut written, n, dim), false, T::ONE, d, after.transposed(), Threads::One);
    let mut last = decays.whole() * dot(state, d_state);
    for j in 0..n {
        let to_end = decays.to_end(j);
        y[row(j)].iter_mut().for_each(|y| *y *= to_end);
        let written = &written[j * dim..][..dim];
        let share = to_end * dot(&keys.rows[j * dim..][..dim], written);
        last += share;
        along[j] -= share;
        let d_key = &mut key_grads.rows[j * dim..][..dim];
        d_key.iter_mut().zip(written).for_each(|(dk, written)| *dk += to_end * *written);
    }
    along[n - 1] += last;

    // Out of the outputs, and back through the triangular system.
    for i in (0..n).rev() {
        let (head, tail) = y.split_at_mut((i + 1) * width);
        let y = &mut head[row(i)];
        for (later, d_out) in (i..n).zip(d_out[i * width..].chunks_exact(width)) {
            let weight = decays.between(later, i) * keys.query_key(later, i);
            y.iter_mut().zip(d_out).for_each(|(y, d)| *y += weight * *d);
        }
        for (later, solved) in (i + 1..n).zip(tail.chunks_exact(width)) {
            let weight = beta[later] * decays.between(later, i) * keys.key_key(later, i);
            y.iter_mut().zip(solved).for_each(|(y, s)| *y -= weight * *s);
        }
    }
    for i in 0..n {
        grads.beta[i] = dot(&y[row(i)], &solved.x[row(i)]);
        grads.values[row(i)].iter_mut().zip(&y[row(i)]).for_each(|(dv, y)| *dv = beta[i] * *y);
    }

    // The products of keys and queries.
    let mut stacked = vec![T::ZERO; 2 * n * width];
    stacked[..n * width].iter_mut().zip(&*grads.values).for_each(|(r, dv)| *r = -*dv);
    stacked[n * width..].copy_from_slice(d_out);
    let mut outer = vec![T::ZERO; 2 * n * n];
    let rows = Matrix::new(&stacked, 2 * n, width);
    multiply(MatrixMut::new(&mut outer, 2 * n, n), false, T::ONE, rows, d.transposed(), Threads::One);
    for i in 0..n {
        for j in 0..=i {
            let between = decays.between(i, j);
            let of_queries = between * outer[(n + i) * n + j];
            key_grads.products[(n + i) * n + j] += of_queries;
            if j < i {
                let of_keys = between * outer[i * n + j];
                key_grads.products[i * n + j] += of_keys;
                let share = of_keys * keys.key_key(i, j) + of_queries * keys.query_key(i, j);
                along[i] += share;
                along[j] -= share;
            }
        }
    }

    // The state at the start.
    for (i, (along, kept)) in along.iter_mut().zip(&decays.from_start).enumerate() {
        for part in [i, n + i] {
            let r = &mut stacked[row(part)];
            r.iter_mut().for_each(|r| *r *= *kept);
            *along += dot(r, &solved.read[row(part)]);
        }
    }
    let rows = Matrix::new(&stacked, 2 * n, width);
    let before = Matrix::new(state, dim, width).transposed();
    multiply(MatrixMut::new(&mut key_grads.rows, 2 * n, dim), true, T::ONE, rows, before, Threads::One);
    d_state.iter_mut().for_each(|g| *g *= decays.whole());
    let read = keys.stacked().transposed();
    multiply(MatrixMut::new(d_state, dim, width), true, T::ONE, read, rows, Threads::One);

    let mut sum = T::ZERO;
    for s in (0..n).rev() {
        sum += along[s];
        grads.log_decay[s] = sum;
    }
}
