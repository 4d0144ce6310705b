//! Vocabulary product, softmax, cross-entropy and their gradient as one node, over chunks of rows and blocks of the
//! vocabulary: neither the logits of a whole batch nor an f32 copy of the matrix exists. A chunk's logits lie block after
//! block, `[rows, block]` each, so that blocks are computed side by side and every sum has one order.

use super::embedding::EmbeddingTable;
use super::product::{Matrix, MatrixMut, Threads, multiply};
use super::real::Real;
use super::reduce::{max, sum};
use super::vectorised::vectorised;
use rayon::prelude::*;

/// Values of the matrix that a thread widens at a time.
pub(crate) const WIDENED: usize = 256 << 10;
/// Logits held at a time.
const LOGITS: usize = 32 << 20;
/// Columns of the hidden gradient that are one task.
const GRADIENT_COLUMNS: usize = 256;

/// Rows whose logits are held at a time.
pub(crate) fn rows_at_a_time(vocabulary: usize) -> usize {
    (LOGITS / vocabulary.max(1)).clamp(16, 256)
}

/// Vocabulary entries of a block.
fn block_entries(width: usize) -> usize {
    (WIDENED / width.max(1)).clamp(16, 1024)
}

/// Fills `logits` block after block with `hidden · tableᵀ`; gives what `visit` makes of every block.
fn block_logits<T: Real, V: Send>(
    table: &EmbeddingTable,
    hidden: &[T],
    logits: &mut [T],
    visit: impl Fn(&[T]) -> V + Sync,
) -> Vec<V> {
    let (width, entries) = (table.width(), block_entries(table.width()));
    let rows = hidden.len() / width;
    let scratch = || (Vec::new(), Vec::new());
    let block = |(narrow, wide): &mut (Vec<f32>, Vec<T>), (block, logits): (usize, &mut [T])| {
        let count = logits.len() / rows;
        let (values, stride) = table.block(block * entries..block * entries + count, 0..width, narrow);
        let weights = Matrix::strided(T::rows(values, wide), count, width, stride).transposed();
        let product = MatrixMut::new(logits, rows, count);
        multiply(product, false, T::ONE, Matrix::new(hidden, rows, width), weights, Threads::One);
        visit(logits)
    };
    logits.par_chunks_mut(rows * entries).enumerate().map_init(scratch, block).collect()
}

/// `d_hidden = d_logits · table` of d_logits that lie block after block.
fn block_backward<T: Real>(table: &EmbeddingTable, d_logits: &[T], d_hidden: &mut [T]) {
    let (width, entries) = (table.width(), block_entries(table.width()));
    let rows = d_hidden.len() / width;
    let firsts: Vec<usize> = (0..width).step_by(GRADIENT_COLUMNS).collect();
    let columns = |first: &usize| {
        let columns = *first..width.min(first + GRADIENT_COLUMNS);
        let mut part = vec![T::ZERO; rows * columns.len()];
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        for (block, d_logits) in d_logits.chunks(rows * entries).enumerate() {
            let count = d_logits.len() / rows;
            let rows_of_block = block * entries..block * entries + count;
            let (values, stride) = table.block(rows_of_block, columns.clone(), &mut narrow);
            let weights = Matrix::strided(T::rows(values, &mut wide), count, columns.len(), stride);
            let d_logits = Matrix::new(d_logits, rows, count);
            let part = MatrixMut::new(&mut part, rows, columns.len());
            multiply(part, block > 0, T::ONE, d_logits, weights, Threads::One);
        }
        part
    };
    let parts: Vec<Vec<T>> = firsts.par_iter().map(columns).collect();
    for (first, part) in firsts.iter().zip(parts) {
        let columns = part.len() / rows;
        for (row, part) in d_hidden.chunks_exact_mut(width).zip(part.chunks_exact(columns)) {
            row[*first..first + columns].copy_from_slice(part);
        }
    }
}

/// `logits = hidden · tableᵀ`; `hidden` is `[rows, width]`, `logits` `[rows, vocabulary]`.
pub fn head_logits<T: Real>(table: &EmbeddingTable, hidden: &[T], logits: &mut [T]) {
    let (width, vocabulary, step) = (table.width(), table.rows(), rows_at_a_time(table.rows()));
    let entries = block_entries(width);
    for (hidden, logits) in hidden.chunks(step * width).zip(logits.chunks_mut(step * vocabulary)) {
        let rows = hidden.len() / width;
        let mut blocks = vec![T::ZERO; rows * vocabulary];
        block_logits(table, hidden, &mut blocks, |_| ());
        for (block, values) in blocks.chunks(rows * entries).enumerate() {
            let count = values.len() / rows;
            for (row, values) in logits.chunks_exact_mut(vocabulary).zip(values.chunks_exact(count)) {
                row[block * entries..][..count].copy_from_slice(values);
            }
        }
    }
}

/// `d_hidden = d_logits · table`, blocks of the vocabulary in order.
pub fn head_backward<T: Real>(table: &EmbeddingTable, d_logits: &[T], d_hidden: &mut [T]) {
    let (width, vocabulary, step) = (table.width(), table.rows(), rows_at_a_time(table.rows()));
    let entries = block_entries(width);
    for (d_logits, d_hidden) in d_logits.chunks(step * vocabulary).zip(d_hidden.chunks_mut(step * width)) {
        let mut blocks = Vec::with_capacity(d_logits.len());
        for first in (0..vocabulary).step_by(entries) {
            let block = first..vocabulary.min(first + entries);
            d_logits.chunks_exact(vocabulary).for_each(|row| blocks.extend_from_slice(&row[block.clone()]));
        }
        block_backward(table, &blocks, d_hidden);
    }
}

/// Largest logit of a part of a row, and Σ e^(logit − largest).
#[derive(Clone, Copy)]
struct PartialSum<T> {
    peak: T,
    sum: T,
}

impl<T: Real> PartialSum<T> {
    #[inline(always)]
    fn of(x: &[T]) -> Self {
        let peak = max(x);
        let mut terms = [T::ZERO; 1024];
        let terms = &mut terms[..x.len()];
        terms.iter_mut().zip(x).for_each(|(term, x)| *term = (*x - peak).exp());
        PartialSum { peak, sum: sum(terms) }
    }

    /// log Σ e^logit over all parts of a row, in f64.
    fn log_sum(parts: impl Iterator<Item = Self> + Clone) -> f64 {
        let peak = parts.clone().map(|part| part.peak.wide()).fold(f64::NEG_INFINITY, f64::max);
        peak + parts.map(|part| (part.peak.wide() - peak).exp() * part.sum.wide()).sum::<f64>().ln()
    }
}

/// A chunk of rows' logits, block after block, and the log of every row's Σ e^logit.
fn logits_and_log_sums<T: Real>(table: &EmbeddingTable, hidden: &[T], logits: &mut [T]) -> Vec<f64> {
    let rows = hidden.len() / table.width();
    let partial = block_logits(table, hidden, logits, |logits| {
        vectorised(
            #[inline(always)]
            || logits.chunks_exact(logits.len() / rows).map(PartialSum::of).collect::<Vec<_>>(),
        )
    });
    (0..rows).map(|row| PartialSum::log_sum(partial.iter().map(|block| block[row]))).collect()
}

/// Σ −log p(target) over the rows of `hidden` (`[targets.len(), width]`, already normed). If
/// `gradient` is given, `scale` times the sum's gradient is written to it (same shape as `hidden`):
/// dlogits = scale · (softmax − one-hot).
pub fn head_loss_and_grad<T: Real>(
    table: &EmbeddingTable,
    hidden: &[T],
    targets: &[u32],
    mut gradient: Option<(T, &mut [T])>,
) -> f64 {
    let (width, vocabulary, step) = (table.width(), table.rows(), rows_at_a_time(table.rows()));
    let entries = block_entries(width);
    let mut logits = vec![T::ZERO; step.min(targets.len()) * vocabulary];
    let mut total = 0.0;
    for (index, targets) in targets.chunks(step).enumerate() {
        let at = index * step * width..(index * step + targets.len()) * width;
        let rows = targets.len();
        let logits = &mut logits[..rows * vocabulary];
        let log_sums = logits_and_log_sums(table, &hidden[at.clone()], logits);
        for (row, (target, log_sum)) in targets.iter().zip(&log_sums).enumerate() {
            total += log_sum - logits[place(*target as usize, row, rows, entries, vocabulary)].wide();
        }
        let Some((scale, d_hidden)) = &mut gradient else { continue };
        let scale = *scale;
        logits.par_chunks_mut(rows * entries).for_each(|block| {
            let count = block.len() / rows;
            for (row, log_sum) in block.chunks_exact_mut(count).zip(&log_sums) {
                let log_sum = T::of(*log_sum);
                vectorised(
                    #[inline(always)]
                    || row.iter_mut().for_each(|l| *l = scale * (*l - log_sum).exp()),
                );
            }
        });
        for (row, target) in targets.iter().enumerate() {
            logits[place(*target as usize, row, rows, entries, vocabulary)] -= scale;
        }
        block_backward(table, logits, &mut d_hidden[at]);
    }
    total
}

/// Where the logit of `entry` of row `row` lies in a chunk of `rows`.
fn place(entry: usize, row: usize, rows: usize, entries: usize, vocabulary: usize) -> usize {
    let first = entry / entries * entries;
    let count = entries.min(vocabulary - first);
    first * rows + row * count + entry - first
}

/// log p of the wanted tokens of each row.
pub fn head_log_probs(table: &EmbeddingTable, hidden: &[f32], wanted: &[Vec<u32>]) -> Vec<Vec<f32>> {
    let (width, vocabulary, step) = (table.width(), table.rows(), rows_at_a_time(table.rows()));
    let entries = block_entries(width);
    let mut logits = vec![0.0; step.min(wanted.len()) * vocabulary];
    let mut found = Vec::with_capacity(wanted.len());
    for (index, wanted) in wanted.chunks(step).enumerate() {
        let rows = wanted.len();
        let hidden = &hidden[index * step * width..][..rows * width];
        let logits = &mut logits[..rows * vocabulary];
        let log_sums = logits_and_log_sums(table, hidden, logits);
        found.extend(wanted.iter().zip(log_sums).enumerate().map(|(row, (wanted, log_sum))| {
            let log_prob =
                |w: &u32| (f64::from(logits[place(*w as usize, row, rows, entries, vocabulary)]) - log_sum) as f32;
            wanted.iter().map(log_prob).collect::<Vec<f32>>()
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::difference::deviation;
    use crate::nodes::dropout::test_values;

    #[test]
    fn loss_gradient_and_log_probs_agree_with_f64() {
        let (rows, width, vocabulary) = (3, 8, 2500);
        let weights: Vec<f32> = test_values(1, vocabulary * width).iter().map(|v| v * 2.0).collect();
        let hidden = test_values(2, rows * width);
        let targets = [3u32, 2499, 2047];
        let table = EmbeddingTable::from_f32(&weights, vocabulary, width);
        let logits = |hidden: &[f64]| -> Vec<Vec<f64>> {
            let entry = |h: &[f64], w: &[f32]| h.iter().zip(w).map(|(h, w)| h * f64::from(*w)).sum::<f64>();
            hidden.chunks(width).map(|h| weights.chunks(width).map(|w| entry(h, w)).collect()).collect()
        };
        let log_prob = |row: &[f64], t: u32| row[t as usize] - row.iter().map(|l| l.exp()).sum::<f64>().ln();
        let loss =
            |hidden: &[f64]| -> f64 { logits(hidden).iter().zip(targets).map(|(row, t)| -log_prob(row, t)).sum() };
        let wide: Vec<f64> = hidden.iter().map(|&v| v.into()).collect();
        let mut grads = vec![9.0; hidden.len()];
        let found = head_loss_and_grad(&table, &hidden, &targets, Some((0.5, &mut grads)));
        assert!((found - loss(&wide)).abs() < 1e-5);
        assert_eq!(found, head_loss_and_grad(&table, &hidden, &targets, None));
        let mut exact = vec![9.0; wide.len()];
        head_loss_and_grad(&table, &wide, &targets, Some((0.5, &mut exact)));
        let value = |moved: &[f64]| 0.5 * head_loss_and_grad(&table, moved, &targets, None);
        let off = deviation(&wide, &exact, 1, value);
        assert!(off < 1e-7, "{off:e}");
        for (narrow, exact) in grads.iter().zip(&exact) {
            assert!((f64::from(*narrow) - exact).abs() < 2e-6);
        }
        let probs = head_log_probs(&table, &hidden, &[vec![5, 6], vec![], vec![2400]]);
        let exact = logits(&wide);
        assert!((f64::from(probs[0][1]) - log_prob(&exact[0], 6)).abs() < 1e-5);
        assert!(probs[1].is_empty());
        assert!((f64::from(probs[2][0]) - log_prob(&exact[2], 2400)).abs() < 1e-5);
    }
}
