//! Depthwise causal convolution and SiLU: c[t] = SiLU(p[t]), p[t] = Σ_j w[j]·u[t − kernel + 1 + j], over one block of
//! channels of one sequence. Rows before the sequence are zero, so a document's edge needs nothing but its own start.

use crate::nodes::Real;

/// One block of channels of the rows of one sequence.
#[derive(Clone, Copy)]
pub(super) struct Channels<'a, T> {
    /// `[kernel][channels]`.
    pub weights: &'a [T],
    /// Rows of u of the sequence, `[tokens, channels]`.
    pub u: &'a [T],
    /// The `kernel − 1` rows before them, if not zero.
    pub history: Option<&'a [T]>,
    /// Channels of a row.
    pub channels: usize,
    /// First channel of the block, and how many.
    pub block: (usize, usize),
}

impl<'a, T: Real> Channels<'a, T> {
    #[inline(always)]
    fn kernel(&self) -> usize {
        self.weights.len() / self.channels
    }

    #[inline(always)]
    fn tap(&self, tap: usize) -> &'a [T] {
        &self.weights[tap * self.channels + self.block.0..][..self.block.1]
    }

    /// The row that tap `tap` of token `t` reads.
    #[inline(always)]
    fn row(&self, t: usize, tap: usize) -> Option<&'a [T]> {
        let before = self.kernel() - 1;
        let (rows, row) = if t + tap >= before { (self.u, t + tap - before) } else { (self.history?, t + tap) };
        Some(&rows[row * self.channels + self.block.0..][..self.block.1])
    }

    /// p of every token, `[tokens, block]`.
    #[inline(always)]
    pub fn convolve(&self, out: &mut [T]) {
        for (t, out) in out.chunks_exact_mut(self.block.1).enumerate() {
            out.fill(T::ZERO);
            for tap in 0..self.kernel() {
                let Some(row) = self.row(t, tap) else { continue };
                for ((out, w), u) in out.iter_mut().zip(self.tap(tap)).zip(row) {
                    *out += *w * *u;
                }
            }
        }
    }

    /// du[t] = Σ_j w[j]·dp[t + kernel − 1 − j], `[tokens, block]`; nothing flows into the history.
    #[inline(always)]
    pub fn convolve_backward(&self, dp: &[T], du: &mut [T]) {
        let (width, before) = (self.block.1, self.kernel() - 1);
        let tokens = dp.len() / width;
        for (t, du) in du.chunks_exact_mut(width).enumerate() {
            du.fill(T::ZERO);
            for tap in 0..self.kernel() {
                let later = t + before - tap;
                if later < tokens {
                    for ((du, w), dp) in du.iter_mut().zip(self.tap(tap)).zip(&dp[later * width..][..width]) {
                        *du += *w * *dp;
                    }
                }
            }
        }
    }
}

/// x·σ(x).
#[inline(always)]
pub(super) fn silu<T: Real>(x: T) -> T {
    x * x.sigmoid()
}

/// d SiLU / dx = s·(1 + x·(1 − s)), s = σ(x).
#[inline(always)]
pub(super) fn silu_slope<T: Real>(x: T) -> T {
    let s = x.sigmoid();
    s * (T::ONE + x * (T::ONE - s))
}
