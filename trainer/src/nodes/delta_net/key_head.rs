//! One key head, with the value heads that share it, over one run of tokens of one sequence.

use super::chunk::{self, CHUNK, Decays, Keys, Solved};
use super::chunk_backward::{self, HeadGrads, KeyGrads};
use super::convolution::{Channels, silu, silu_slope};
use super::gated_norm::{gated_norm, gated_norm_backward};
use super::gates::{log_decay, log_decay_backward, write_gate_backward};
use super::l2_norm::{l2_norm, l2_norm_backward};
use super::shape::{DeltaInput, DeltaShape, DeltaWeights};
use crate::nodes::Real;
use crate::nodes::vectorised::vectorised;
use std::ops::Range;

/// What one task works on.
pub(super) struct KeyHead<'a, T> {
    pub shape: DeltaShape,
    pub weights: &'a DeltaWeights<T>,
    pub input: DeltaInput<'a, T>,
    /// Tokens of the run.
    pub span: Range<usize>,
    /// Rows of u before the run; `None` at a sequence's start.
    pub history: Option<&'a [T]>,
    pub head: usize,
}

/// Query, key and values of every token of the run.
struct Mixed<T> {
    /// Before SiLU: `[n, key_dim]`, `[n, key_dim]`, `[n, group·value_dim]`.
    convolved: [Vec<T>; 3],
    /// After SiLU and l2 norm.
    q: Vec<T>,
    k: Vec<T>,
    /// After SiLU.
    v: Vec<T>,
}

/// Gradients of one task, head-major: u's three parts, z, b and a.
pub(super) struct TaskGrads<'a, T> {
    pub parts: [&'a mut [T]; 3],
    pub z: &'a mut [T],
    pub b: &'a mut [T],
    pub a: &'a mut [T],
}

impl<T: Real> KeyHead<'_, T> {
    #[inline(always)]
    fn tokens(&self) -> usize {
        self.span.len()
    }

    #[inline(always)]
    fn channels(&self, block: (usize, usize)) -> Channels<'_, T> {
        let channels = self.shape.channels();
        let u = &self.input.u[self.span.start * channels..self.span.end * channels];
        Channels { weights: &self.weights.conv, u, history: self.history, channels, block }
    }

    /// 1/√key_dim, the factor on queries.
    #[inline(always)]
    fn query_scale(&self) -> T {
        T::ONE / T::of(self.shape.key_dim as f64).sqrt()
    }

    #[inline(always)]
    fn mix(&self) -> Mixed<T> {
        let dim = self.shape.key_dim;
        let convolved = self.shape.parts(self.head).map(|block| {
            let mut out = vec![T::ZERO; self.tokens() * block.1];
            self.channels(block).convolve(&mut out);
            out
        });
        let [q, k, v] = [0, 1, 2].map(|part| convolved[part].iter().map(|p| silu(*p)).collect::<Vec<T>>());
        let (mut q_normed, mut k_normed) = (vec![T::ZERO; q.len()], vec![T::ZERO; k.len()]);
        l2_norm(&q, dim, self.query_scale(), &mut q_normed);
        l2_norm(&k, dim, T::ONE, &mut k_normed);
        Mixed { convolved, q: q_normed, k: k_normed, v }
    }

    /// β and e^g of value head `head`, per token.
    #[inline(always)]
    fn gates(&self, head: usize) -> (Vec<T>, Vec<T>) {
        let at = |t: usize| t * self.shape.value_heads + head;
        let (bias, rate) = (self.weights.dt_bias[head], self.weights.rate[head]);
        let beta = self.span.clone().map(|t| self.input.b[at(t)].sigmoid());
        let decay = self.span.clone().map(|t| log_decay(self.input.a[at(t)], bias, rate).exp());
        (beta.collect(), decay.collect())
    }

    /// Gate row of value head `head` (among all) for token `t` of the run.
    #[inline(always)]
    fn z(&self, t: usize, head: usize) -> &[T] {
        &self.input.z[(self.span.start + t) * self.shape.values() + head * self.shape.value_dim..]
            [..self.shape.value_dim]
    }

    /// Fills `out` (`[n, group·value_dim]`) and takes the group's states (`[group][key_dim][value_dim]`) to the run's end.
    pub fn forward(&self, states: &mut [T], out: &mut [T]) {
        vectorised(
            #[inline(always)]
            || self.run_forward(states, out),
        );
    }

    #[inline(always)]
    fn run_forward(&self, states: &mut [T], out: &mut [T]) {
        let (group, dim, width) = (self.shape.group(), self.shape.key_dim, self.shape.value_dim);
        let mixed = self.mix();
        let gates: Vec<_> = (0..group).map(|member| self.gates(self.head * group + member)).collect();
        let [mut read, mut x, mut d, mut o] = [2, 1, 1, 1].map(|rows| vec![T::ZERO; rows * CHUNK * width]);
        for first in (0..self.tokens()).step_by(CHUNK) {
            let n = CHUNK.min(self.tokens() - first);
            let rows = first * dim..(first + n) * dim;
            let keys = Keys::new(&mixed.q[rows.clone()], &mixed.k[rows], dim);
            for (member, (beta, decay)) in gates.iter().enumerate() {
                let state = &mut states[member * dim * width..][..dim * width];
                let decays = Decays::new(&decay[first..first + n]);
                let values = &mixed.v[(first * group + member) * width..];
                let mut solved =
                    Solved { read: &mut read[..2 * n * width], x: &mut x[..n * width], d: &mut d[..n * width] };
                let o = &mut o[..n * width];
                chunk::forward(&keys, &decays, (values, group * width), &beta[first..first + n], state, &mut solved, o);
                for (i, o) in o.chunks_exact(width).enumerate() {
                    let (t, head) = (first + i, self.head * group + member);
                    let out = &mut out[(t * group + member) * width..][..width];
                    gated_norm(o, self.z(t, head), &self.weights.norm, self.weights.norm_eps, out);
                }
            }
        }
    }

    /// Backward of a run that begins with an empty state. `dy` is the gradient of the node's output, `[T, values]` rows.
    pub fn backward(&self, dy: &[T], mut grads: TaskGrads<'_, T>) {
        vectorised(
            #[inline(always)]
            || self.run_backward(dy, &mut grads),
        );
    }

    #[inline(always)]
    fn run_backward(&self, dy: &[T], grads: &mut TaskGrads<'_, T>) {
        let TaskGrads { parts, z: dz, b: db, a: da } = grads;
        let [dq, dk, dv] = parts.each_mut().map(|part| &mut **part);
        let mixed = self.mix();
        let group = self.shape.group();
        dq.fill(T::ZERO);
        dk.fill(T::ZERO);
        for member in 0..group {
            self.value_head_backward(
                &mixed,
                member,
                dy,
                (&mut *dq, &mut *dk, &mut *dv),
                (&mut **dz, &mut **db, &mut **da),
            );
        }
        self.unmix(&mixed, [dq, dk, dv]);
    }

    /// Adds to dq and dk (of the normed rows), writes the member's share of dv, dz, db and da.
    #[inline(always)]
    fn value_head_backward(
        &self,
        mixed: &Mixed<T>,
        member: usize,
        dy: &[T],
        (dq, dk, dv): (&mut [T], &mut [T], &mut [T]),
        (dz, db, da): (&mut [T], &mut [T], &mut [T]),
    ) {
        let (group, dim, width) = (self.shape.group(), self.shape.key_dim, self.shape.value_dim);
        let (tokens, head) = (self.tokens(), self.head * group + member);
        let (beta, decay) = self.gates(head);

        // Forward again, with the state at the start of every chunk.
        let mut starts = vec![T::ZERO; tokens.div_ceil(CHUNK) * dim * width];
        let mut state = vec![T::ZERO; dim * width];
        let [mut read, mut x, mut d, mut o] = [2, 1, 1, 1].map(|rows| vec![T::ZERO; rows * tokens * width]);
        for (index, start) in starts.chunks_exact_mut(dim * width).enumerate() {
            start.copy_from_slice(&state);
            let (first, n) = self.chunk(index);
            let keys = Keys::new(&mixed.q[first * dim..][..n * dim], &mixed.k[first * dim..][..n * dim], dim);
            let values = (&mixed.v[(first * group + member) * width..], group * width);
            let mut solved = Solved {
                read: &mut read[2 * first * width..][..2 * n * width],
                x: &mut x[first * width..][..n * width],
                d: &mut d[first * width..][..n * width],
            };
            let decays = Decays::new(&decay[first..first + n]);
            let o = &mut o[first * width..][..n * width];
            chunk::forward(&keys, &decays, values, &beta[first..first + n], &mut state, &mut solved, o);
        }

        let mut d_out = vec![T::ZERO; tokens * width];
        let mut g = vec![T::ZERO; width];
        for t in 0..tokens {
            let at = (self.span.start + t) * self.shape.values() + head * width;
            let dz = &mut dz[(t * group + member) * width..][..width];
            let rows = (&o[t * width..][..width], self.z(t, head));
            let d_o = &mut d_out[t * width..][..width];
            let (weight, eps) = (&self.weights.norm, self.weights.norm_eps);
            gated_norm_backward(rows, weight, eps, &dy[at..at + width], (d_o, dz), &mut g);
        }

        state.fill(T::ZERO);
        let d_state = &mut state;
        let (mut values, mut d_beta, mut d_log) = (vec![T::ZERO; CHUNK * width], [T::ZERO; CHUNK], [T::ZERO; CHUNK]);
        for (index, start) in starts.chunks_exact(dim * width).enumerate().rev() {
            let (first, n) = self.chunk(index);
            let keys = Keys::new(&mixed.q[first * dim..][..n * dim], &mixed.k[first * dim..][..n * dim], dim);
            let solved = Solved {
                read: &mut read[2 * first * width..][..2 * n * width],
                x: &mut x[first * width..][..n * width],
                d: &mut d[first * width..][..n * width],
            };
            let decays = Decays::new(&decay[first..first + n]);
            let mut key_grads = KeyGrads::zeros(&keys);
            let mut head_grads =
                HeadGrads { values: &mut values[..n * width], beta: &mut d_beta[..n], log_decay: &mut d_log[..n] };
            let d_out = &d_out[first * width..][..n * width];
            let beta_rows = &beta[first..first + n];
            chunk_backward::backward(
                &keys,
                &decays,
                beta_rows,
                start,
                &solved,
                d_out,
                d_state,
                &mut key_grads,
                &mut head_grads,
            );
            key_grads.finish(&keys);
            let (of_keys, of_queries) = key_grads.rows.split_at(n * dim);
            dk[first * dim..][..n * dim].iter_mut().zip(of_keys).for_each(|(dk, d)| *dk += *d);
            dq[first * dim..][..n * dim].iter_mut().zip(of_queries).for_each(|(dq, d)| *dq += *d);
            for i in 0..n {
                let (t, at) = (first + i, (self.span.start + first + i) * self.shape.value_heads + head);
                dv[(t * group + member) * width..][..width].copy_from_slice(&values[i * width..][..width]);
                let (bias, rate) = (self.weights.dt_bias[head], self.weights.rate[head]);
                db[t * group + member] = write_gate_backward(beta[t], d_beta[i]);
                da[t * group + member] = log_decay_backward(self.input.a[at], bias, rate, d_log[i]);
            }
        }
    }

    /// First token and length of chunk `index`.
    #[inline(always)]
    fn chunk(&self, index: usize) -> (usize, usize) {
        let first = index * CHUNK;
        (first, CHUNK.min(self.tokens() - first))
    }

    /// Through l2 norm, SiLU and convolution, in place.
    #[inline(always)]
    fn unmix(&self, mixed: &Mixed<T>, grads: [&mut [T]; 3]) {
        let blocks = self.shape.parts(self.head);
        let scales = [Some(self.query_scale()), Some(T::ONE), None];
        for (part, d) in grads.into_iter().enumerate() {
            let convolved = &mixed.convolved[part];
            if let Some(scale) = scales[part] {
                let x: Vec<T> = convolved.iter().map(|p| silu(*p)).collect();
                l2_norm_backward(&x, self.shape.key_dim, scale, d);
            }
            let dp: Vec<T> = d.iter().zip(convolved).map(|(d, p)| *d * silu_slope(*p)).collect();
            self.channels(blocks[part]).convolve_backward(&dp, d);
        }
    }
}
