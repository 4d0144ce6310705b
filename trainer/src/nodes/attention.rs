//! Causal attention over packed sequences, in blocks with an online softmax: no T×T matrix exists,
//! forward (Rabe and Staats; FlashAttention, Dao et al.) or backward, which computes each block's
//! probabilities again from the kept log-sum-exp. Queries, keys and values are head-major
//! `[heads][T][head_dim]`; query head h uses key/value head h / (heads / kv_heads).

use super::product::{Matrix, MatrixMut, Threads, multiply};
use super::real::Real;
use super::reduce::{dot, max, sum};
use rayon::prelude::*;
use std::ops::Range;

/// Queries and keys per block.
const BLOCK: usize = 64;

/// Head counts and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionShape {
    /// Query heads, a multiple of `kv_heads`.
    pub heads: usize,
    /// Key/value heads.
    pub kv_heads: usize,
    /// Elements of one head.
    pub head_dim: usize,
}

impl AttentionShape {
    fn group(&self) -> usize {
        self.heads / self.kv_heads
    }

    fn scale<T: Real>(&self) -> T {
        T::ONE / T::of(self.head_dim as f64).sqrt()
    }
}

/// Keys and values of one head that a run of queries sees.
#[derive(Clone, Copy)]
pub struct Visible<'a, T = f32> {
    /// `[n, head_dim]`.
    pub keys: &'a [T],
    /// `[n, head_dim]`.
    pub values: &'a [T],
    /// Whether these are the queries' own tokens: query i sees keys 0..=i. Otherwise it sees all.
    pub causal: bool,
}

/// Keys of a block that query `query` sees.
fn seen(causal: bool, query: usize, first_key: usize, keys: usize) -> usize {
    if causal { (query + 1 - first_key).min(keys) } else { keys }
}

/// One head: `out[i] = Σ softmax(q[i]·k / √head_dim) v` over all pieces, and its log-sum-exp.
/// `queries` and `out` are `[n, head_dim]`, `log_sum` is `[n]`.
pub fn attend<T: Real>(
    shape: AttentionShape,
    queries: &[T],
    pieces: &[Visible<'_, T>],
    out: &mut [T],
    log_sum: &mut [T],
) {
    let dim = shape.head_dim;
    let mut scores = [T::ZERO; BLOCK * BLOCK];
    let blocks = queries.chunks(BLOCK * dim).zip(out.chunks_mut(BLOCK * dim)).zip(log_sum.chunks_mut(BLOCK));
    for (block, ((queries, out), log_sum)) in blocks.enumerate() {
        let (first, rows) = (block * BLOCK, log_sum.len());
        let (mut peak, mut total) = ([T::NEG_INFINITY; BLOCK], [T::ZERO; BLOCK]);
        out.fill(T::ZERO);
        for piece in pieces {
            for (index, (keys, values)) in
                piece.keys.chunks(BLOCK * dim).zip(piece.values.chunks(BLOCK * dim)).enumerate()
            {
                let (first_key, cols) = (index * BLOCK, keys.len() / dim);
                if piece.causal && first_key >= first + rows {
                    break;
                }
                let scores = &mut scores[..rows * cols];
                let k = Matrix::new(keys, cols, dim).transposed();
                let q = Matrix::new(queries, rows, dim);
                multiply(MatrixMut::new(scores, rows, cols), false, shape.scale(), q, k, Threads::One);
                for (row, scores) in scores.chunks_exact_mut(cols).enumerate() {
                    let (seen, hidden) = scores.split_at_mut(seen(piece.causal, first + row, first_key, cols));
                    let block_peak = max(seen);
                    let new_peak = if block_peak > peak[row] { block_peak } else { peak[row] };
                    let shrink = (peak[row] - new_peak).exp();
                    seen.iter_mut().for_each(|s| *s = (*s - new_peak).exp());
                    hidden.fill(T::ZERO);
                    total[row] = total[row] * shrink + sum(seen);
                    peak[row] = new_peak;
                    out[row * dim..][..dim].iter_mut().for_each(|o| *o *= shrink);
                }
                let p = Matrix::new(scores, rows, cols);
                multiply(MatrixMut::new(out, rows, dim), true, T::ONE, p, Matrix::new(values, cols, dim), Threads::One);
            }
        }
        for row in 0..rows {
            let scale = T::ONE / total[row];
            out[row * dim..][..dim].iter_mut().for_each(|o| *o *= scale);
            log_sum[row] = peak[row] + total[row].ln();
        }
    }
}

/// Cuts a head-major buffer into `[head][span]` pieces of `width` elements a token.
pub(crate) fn cut<'a, T>(
    buffer: &'a mut [T],
    tokens: usize,
    width: usize,
    spans: &[Range<usize>],
) -> Vec<Vec<&'a mut [T]>> {
    let heads = buffer.chunks_exact_mut((tokens * width).max(1));
    let pieces = |head: &'a mut [T]| {
        let mut rest = head;
        let take = |span: &Range<usize>| rest.split_off_mut(..span.len() * width).unwrap_or_default();
        spans.iter().map(take).collect()
    };
    heads.map(pieces).collect()
}

/// Training forward: every span attends to itself, causally. Spans lie one after the other and
/// cover all tokens. `out` is head-major `[heads][T][head_dim]`, `log_sum` is `[heads][T]`.
pub fn attention_forward<T: Real>(
    shape: AttentionShape,
    q: &[T],
    k: &[T],
    v: &[T],
    spans: &[Range<usize>],
    out: &mut [T],
    log_sum: &mut [T],
) {
    let tokens = spans.last().map_or(0, |s| s.end);
    let dim = shape.head_dim;
    let outs = cut(out, tokens, dim, spans).into_iter().flatten();
    let sums = cut(log_sum, tokens, 1, spans).into_iter().flatten();
    let tasks: Vec<_> = outs.zip(sums).enumerate().collect();
    tasks.into_par_iter().for_each(|(task, (out, log_sum))| {
        let (head, span) = (task / spans.len(), &spans[task % spans.len()]);
        let rows = |buffer, head| head_rows(buffer, head, tokens, dim, span);
        let kv = head / shape.group();
        let own = Visible { keys: rows(k, kv), values: rows(v, kv), causal: true };
        attend(shape, rows(q, head), &[own], out, log_sum);
    });
}

/// Rows `span` of one head of a head-major buffer.
fn head_rows<'a, T>(buffer: &'a [T], head: usize, tokens: usize, dim: usize, span: &Range<usize>) -> &'a [T] {
    &buffer[(head * tokens + span.start) * dim..(head * tokens + span.end) * dim]
}

/// What the backward pass of one key/value head over one span writes.
struct Task<'a, T> {
    kv: usize,
    span: Range<usize>,
    dq: Vec<&'a mut [T]>,
    dk: &'a mut [T],
    dv: &'a mut [T],
}

/// What it reads.
struct Kept<'a, T> {
    q: &'a [T],
    k: &'a [T],
    v: &'a [T],
    attended: &'a [T],
    log_sum: &'a [T],
    d_out: &'a [T],
    tokens: usize,
}

/// Backward of [`attention_forward`]. `attended` is its output as `[T, heads·head_dim]` rows, `d_out`
/// the gradient of the output, head-major like `dq`, `dk`, `dv`, which are overwritten.
///
/// With P the probabilities and D = Σ dO·O per row: dV = Pᵀ dO, dS = P ∘ (dO Vᵀ − D) / √head_dim,
/// dQ = dS K, dK = dSᵀ Q.
#[allow(clippy::too_many_arguments)]
pub fn attention_backward<T: Real>(
    shape: AttentionShape,
    (q, k, v): (&[T], &[T], &[T]),
    attended: &[T],
    log_sum: &[T],
    d_out: &[T],
    spans: &[Range<usize>],
    (dq, dk, dv): (&mut [T], &mut [T], &mut [T]),
) {
    let tokens = spans.last().map_or(0, |s| s.end);
    let dim = shape.head_dim;
    let kept = Kept { q, k, v, attended, log_sum, d_out, tokens };
    let mut queries = cut(dq, tokens, dim, spans).into_iter();
    let mut tasks = Vec::new();
    for (kv, (dk, dv)) in cut(dk, tokens, dim, spans).into_iter().zip(cut(dv, tokens, dim, spans)).enumerate() {
        let mut group: Vec<_> = queries.by_ref().take(shape.group()).map(Vec::into_iter).collect();
        for ((span, dk), dv) in spans.iter().zip(dk).zip(dv) {
            let dq = group.iter_mut().filter_map(Iterator::next).collect();
            tasks.push(Task { kv, span: span.clone(), dq, dk, dv });
        }
    }
    tasks.into_par_iter().for_each(|task| backward_task(shape, &kept, task));
}

fn backward_task<T: Real>(shape: AttentionShape, kept: &Kept<'_, T>, task: Task<'_, T>) {
    let (dim, tokens, span) = (shape.head_dim, kept.tokens, &task.span);
    let (heads_width, group) = (shape.heads * dim, shape.group());
    let keys = head_rows(kept.k, task.kv, tokens, dim, span);
    let values = head_rows(kept.v, task.kv, tokens, dim, span);
    task.dk.fill(T::ZERO);
    task.dv.fill(T::ZERO);
    let (mut p, mut ds) = (vec![T::ZERO; BLOCK * BLOCK], vec![T::ZERO; BLOCK * BLOCK]);
    for (member, dq) in task.dq.into_iter().enumerate() {
        let head = task.kv * group + member;
        let queries = head_rows(kept.q, head, tokens, dim, span);
        let d_out = head_rows(kept.d_out, head, tokens, dim, span);
        let log_sum = head_rows(kept.log_sum, head, tokens, 1, span);
        let inner = |t: usize| {
            let out = &kept.attended[(span.start + t) * heads_width + head * dim..][..dim];
            dot(out, &d_out[t * dim..][..dim])
        };
        let inner: Vec<T> = (0..span.len()).map(inner).collect();
        dq.fill(T::ZERO);
        for first in (0..span.len()).step_by(BLOCK) {
            let rows = BLOCK.min(span.len() - first);
            let q = Matrix::new(&queries[first * dim..][..rows * dim], rows, dim);
            let d_o = Matrix::new(&d_out[first * dim..][..rows * dim], rows, dim);
            for first_key in (0..=first).step_by(BLOCK) {
                let cols = BLOCK.min(span.len() - first_key);
                let k = Matrix::new(&keys[first_key * dim..][..cols * dim], cols, dim);
                let v = Matrix::new(&values[first_key * dim..][..cols * dim], cols, dim);
                let (p, ds) = (&mut p[..rows * cols], &mut ds[..rows * cols]);
                multiply(MatrixMut::new(p, rows, cols), false, shape.scale(), q, k.transposed(), Threads::One);
                multiply(MatrixMut::new(ds, rows, cols), false, T::ONE, d_o, v.transposed(), Threads::One);
                for (row, (p, ds)) in p.chunks_exact_mut(cols).zip(ds.chunks_exact_mut(cols)).enumerate() {
                    let query = first + row;
                    let seen = seen(true, query, first_key, cols);
                    let (log_sum, inner) = (log_sum[query], inner[query]);
                    for (p, ds) in p[..seen].iter_mut().zip(&mut ds[..seen]) {
                        *p = (*p - log_sum).exp();
                        *ds = *p * (*ds - inner) * shape.scale();
                    }
                    if query == 0 {
                        // One key: its weight is 1 whatever the score. Rounding must not say otherwise, because Adam makes a
                        // full step of any gradient that is not zero.
                        ds[..seen].fill(T::ZERO);
                    }
                    p[seen..].fill(T::ZERO);
                    ds[seen..].fill(T::ZERO);
                }
                let (p, ds) = (Matrix::new(p, rows, cols), Matrix::new(ds, rows, cols));
                let dv = MatrixMut::new(&mut task.dv[first_key * dim..][..cols * dim], cols, dim);
                multiply(dv, true, T::ONE, p.transposed(), d_o, Threads::One);
                let dk = MatrixMut::new(&mut task.dk[first_key * dim..][..cols * dim], cols, dim);
                multiply(dk, true, T::ONE, ds.transposed(), q, Threads::One);
                let dq = MatrixMut::new(&mut dq[first * dim..][..rows * dim], rows, dim);
                multiply(dq, true, T::ONE, ds, k, Threads::One);
            }
        }
    }
}

#[cfg(test)]
mod tests;
