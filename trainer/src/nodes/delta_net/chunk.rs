//! The delta rule over one chunk of tokens, in matrix form.
//!
//! Per token the rule is S ← e^g S; d = β (v − Sᵀk); S ← S + k dᵀ; o = Sᵀq. Over a chunk that begins with state S, with
//! D_ij the product of the decays of tokens j+1..=i (1 for i = j), Γ_i that of tokens 0..=i, and E_j = D_last,j:
//!   x_i = v_i − Γ_i Sᵀk_i − Σ_{j<i} D_ij (k_i·k_j) d_j,   d_i = β_i x_i   (solved from the first token on),
//!   o_i = Γ_i Sᵀq_i + Σ_{j≤i} D_ij (q_i·k_j) d_j,
//!   S ← Γ_last S + Σ_j E_j k_j d_jᵀ.
//! (Yang, Wang, Zhang, Shen and Kim, "Parallelizing linear transformers with the delta rule over sequence length",
//! NeurIPS 2024, and its gated form, "Gated delta networks", ICLR 2025.) The decays are multiplied up, never taken as
//! differences of sums of logarithms, which would lose digits.

use crate::nodes::Real;
use crate::nodes::product::{Matrix, MatrixMut, Threads, multiply};

/// Tokens of a chunk. The backward pass keeps the state at the start of every chunk, and only while it works on the head
/// that the state belongs to.
pub(crate) const CHUNK: usize = 16;

/// A share of the state smaller than this counts as none: 2^-64, far below the rounding of what has been written since.
/// Without it the products of small shares are denormal numbers, which processors compute a hundred times slower.
const FORGOTTEN: f64 = 1.0 / (1u128 << 64) as f64;

/// Keys over queries of one chunk, `[2n, key_dim]`, and their products with the keys, `[2n, n]`: shared by the value
/// heads of a key head.
pub(super) struct Keys<T> {
    pub n: usize,
    pub dim: usize,
    /// Keys, then queries.
    pub rows: Vec<T>,
    /// k_i·k_j, then q_i·k_j.
    pub products: Vec<T>,
}

impl<T: Real> Keys<T> {
    /// Takes the chunk's rows of `q` and `k`, `[n, dim]` each.
    #[inline(always)]
    pub fn new(q: &[T], k: &[T], dim: usize) -> Self {
        let n = k.len() / dim;
        let rows = [k, q].concat();
        let mut products = vec![T::ZERO; 2 * n * n];
        let stacked = Matrix::new(&rows, 2 * n, dim);
        let keys = Matrix::new(&rows[..n * dim], n, dim).transposed();
        multiply(MatrixMut::new(&mut products, 2 * n, n), false, T::ONE, stacked, keys, Threads::One);
        Keys { n, dim, rows, products }
    }

    #[inline(always)]
    pub fn stacked(&self) -> Matrix<'_, T> {
        Matrix::new(&self.rows, 2 * self.n, self.dim)
    }

    #[inline(always)]
    pub fn keys(&self) -> Matrix<'_, T> {
        Matrix::new(&self.rows[..self.n * self.dim], self.n, self.dim)
    }

    /// k_i·k_j.
    #[inline(always)]
    pub fn key_key(&self, i: usize, j: usize) -> T {
        self.products[i * self.n + j]
    }

    /// q_i·k_j.
    #[inline(always)]
    pub fn query_key(&self, i: usize, j: usize) -> T {
        self.products[(self.n + i) * self.n + j]
    }
}

/// The decays of one value head over one chunk.
pub(super) struct Decays<T> {
    n: usize,
    /// D, `[n, n]`, zero above the diagonal.
    between: Vec<T>,
    /// Γ, `[n]`.
    pub from_start: Vec<T>,
}

impl<T: Real> Decays<T> {
    /// `decay` holds e^g of each token.
    #[inline(always)]
    pub fn new(decay: &[T]) -> Self {
        let keep = |share: T| if share < T::of(FORGOTTEN) { T::ZERO } else { share };
        let n = decay.len();
        let mut between = vec![T::ZERO; n * n];
        let mut from_start = Vec::with_capacity(n);
        let mut kept = T::ONE;
        for (i, &decay) in decay.iter().enumerate() {
            for j in 0..i {
                between[i * n + j] = keep(between[(i - 1) * n + j] * decay);
            }
            between[i * n + i] = T::ONE;
            kept = keep(kept * decay);
            from_start.push(kept);
        }
        Decays { n, between, from_start }
    }

    /// D_ij for j ≤ i.
    #[inline(always)]
    pub fn between(&self, i: usize, j: usize) -> T {
        self.between[i * self.n + j]
    }

    /// E_j.
    #[inline(always)]
    pub fn to_end(&self, j: usize) -> T {
        self.between(self.n - 1, j)
    }

    /// Γ_last.
    #[inline(always)]
    pub fn whole(&self) -> T {
        self.from_start[self.n - 1]
    }
}

/// What the forward pass of a chunk leaves, rows of `value_dim`: all of it is needed to go backward.
pub(super) struct Solved<'a, T> {
    /// Sᵀk and Sᵀq of the state at the chunk's start, `[2n, value_dim]`.
    pub read: &'a mut [T],
    /// x, `[n, value_dim]`.
    pub x: &'a mut [T],
    /// d = β x, `[n, value_dim]`.
    pub d: &'a mut [T],
}

/// One value head over one chunk: fills `solved` and `out` (`[n, width]`), and takes `state` (`[key_dim, width]`) to the
/// chunk's end. Row i of the values begins at `values[i * stride]`.
#[inline(always)]
pub(super) fn forward<T: Real>(
    keys: &Keys<T>,
    decays: &Decays<T>,
    (values, stride): (&[T], usize),
    beta: &[T],
    state: &mut [T],
    solved: &mut Solved<'_, T>,
    out: &mut [T],
) {
    let (n, dim) = (keys.n, keys.dim);
    let width = state.len() / dim;
    let before = Matrix::new(state, dim, width);
    multiply(MatrixMut::new(solved.read, 2 * n, width), false, T::ONE, keys.stacked(), before, Threads::One);
    let (from_keys, from_queries) = solved.read.split_at(n * width);

    for i in 0..n {
        let (done, rest) = solved.d.split_at_mut(i * width);
        let x = &mut solved.x[i * width..][..width];
        let kept = decays.from_start[i];
        let value = &values[i * stride..][..width];
        for ((x, v), read) in x.iter_mut().zip(value).zip(&from_keys[i * width..]) {
            *x = *v - kept * *read;
        }
        for (j, d) in done.chunks_exact(width).enumerate() {
            let weight = decays.between(i, j) * keys.key_key(i, j);
            x.iter_mut().zip(d).for_each(|(x, d)| *x -= weight * *d);
        }
        rest[..width].iter_mut().zip(x.iter()).for_each(|(d, x)| *d = beta[i] * *x);
    }

    let mut weights = vec![T::ZERO; n * n];
    for i in 0..n {
        for j in 0..=i {
            weights[i * n + j] = decays.between(i, j) * keys.query_key(i, j);
        }
        let kept = decays.from_start[i];
        let out = &mut out[i * width..][..width];
        out.iter_mut().zip(&from_queries[i * width..]).for_each(|(out, read)| *out = kept * *read);
    }
    let d = Matrix::new(solved.d, n, width);
    multiply(MatrixMut::new(out, n, width), true, T::ONE, Matrix::new(&weights, n, n), d, Threads::One);

    let mut decayed = keys.rows[..n * dim].to_vec();
    for (j, row) in decayed.chunks_exact_mut(dim).enumerate() {
        row.iter_mut().for_each(|k| *k *= decays.to_end(j));
    }
    state.iter_mut().for_each(|s| *s *= decays.whole());
    let written = Matrix::new(&decayed, n, dim).transposed();
    multiply(MatrixMut::new(state, dim, width), true, T::ONE, written, d, Threads::One);
}
