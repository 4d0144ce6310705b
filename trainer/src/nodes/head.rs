//! Vocabulary product, softmax, cross-entropy and their gradient as one node, over chunks of rows
//! and of the vocabulary: neither the logits of a whole batch nor an f32 copy of the matrix exists.

use super::embedding::EmbeddingTable;
use super::product::{Matrix, MatrixMut, Threads, multiply};
use super::real::Real;
use super::reduce::{max, sum};
use rayon::prelude::*;
use std::ops::Range;

/// Vocabulary entries widened at a time.
pub(crate) const VOCABULARY_ROWS: usize = 2048;
/// Logits held at a time.
const LOGITS: usize = 8 << 20;

/// Rows whose logits are held at a time.
pub(crate) fn rows_at_a_time(vocabulary: usize) -> usize {
    (LOGITS / vocabulary.max(1)).clamp(16, 256)
}

fn chunks(table: &EmbeddingTable) -> impl Iterator<Item = Range<usize>> {
    let rows = table.rows();
    (0..rows).step_by(VOCABULARY_ROWS).map(move |start| start..rows.min(start + VOCABULARY_ROWS))
}

/// `logits = hidden · tableᵀ`; `hidden` is `[rows, width]`, `logits` `[rows, vocabulary]`.
pub fn head_logits<T: Real>(table: &EmbeddingTable, hidden: &[T], logits: &mut [T]) {
    let (width, vocabulary) = (table.width(), table.rows());
    let rows = hidden.len() / width;
    let (mut narrow, mut scratch) = (Vec::new(), Vec::new());
    for chunk in chunks(table) {
        let weights = T::rows(table.block(chunk.clone(), &mut narrow), &mut scratch);
        let weights = Matrix::new(weights, chunk.len(), width).transposed();
        let logits = MatrixMut::strided(&mut logits[chunk.start..], rows, chunk.len(), vocabulary);
        multiply(logits, false, T::ONE, Matrix::new(hidden, rows, width), weights, Threads::All);
    }
}

/// `d_hidden = d_logits · table`, chunks of the vocabulary in order.
pub fn head_backward<T: Real>(table: &EmbeddingTable, d_logits: &[T], d_hidden: &mut [T]) {
    let (width, vocabulary) = (table.width(), table.rows());
    let rows = d_hidden.len() / width;
    let (mut narrow, mut scratch) = (Vec::new(), Vec::new());
    for chunk in chunks(table) {
        let weights = T::rows(table.block(chunk.clone(), &mut narrow), &mut scratch);
        let weights = Matrix::new(weights, chunk.len(), width);
        let d_logits = Matrix::strided(&d_logits[chunk.start..], rows, chunk.len(), vocabulary);
        let d_hidden = MatrixMut::new(d_hidden, rows, width);
        multiply(d_hidden, chunk.start > 0, T::ONE, d_logits, weights, Threads::All);
    }
}

/// log Σ e^x, the total of the partial sums in f64.
fn log_sum_exp<T: Real>(x: &[T]) -> f64 {
    let peak = max(x);
    let mut terms = [T::ZERO; 1024];
    let part = |part: &[T]| {
        let terms = &mut terms[..part.len()];
        terms.iter_mut().zip(part).for_each(|(t, x)| *t = (*x - peak).exp());
        sum(terms).wide()
    };
    peak.wide() + x.chunks(1024).map(part).sum::<f64>().ln()
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
    let mut logits = vec![T::ZERO; step.min(targets.len()) * vocabulary];
    let mut total = 0.0;
    for (index, targets) in targets.chunks(step).enumerate() {
        let at = index * step * width..(index * step + targets.len()) * width;
        let logits = &mut logits[..targets.len() * vocabulary];
        head_logits(table, &hidden[at.clone()], logits);
        let scale = gradient.as_ref().map(|(scale, _)| *scale);
        let row = |(row, target): (&mut [T], &u32)| {
            let target = *target as usize;
            let log_sum = log_sum_exp(row);
            let loss = log_sum - row[target].wide();
            if let Some(scale) = scale {
                let log_sum = T::of(log_sum);
                row.iter_mut().for_each(|l| *l = scale * (*l - log_sum).exp());
                row[target] -= scale;
            }
            loss
        };
        let losses: Vec<f64> = logits.par_chunks_mut(vocabulary).zip(targets).map(row).collect();
        total += losses.iter().sum::<f64>();
        if let Some((_, d_hidden)) = &mut gradient {
            head_backward(table, logits, &mut d_hidden[at]);
        }
    }
    total
}

/// log p of the wanted tokens of each row.
pub fn head_log_probs(table: &EmbeddingTable, hidden: &[f32], wanted: &[Vec<u32>]) -> Vec<Vec<f32>> {
    let (width, vocabulary, step) = (table.width(), table.rows(), rows_at_a_time(table.rows()));
    let mut logits = vec![0.0; step.min(wanted.len()) * vocabulary];
    let mut found = Vec::with_capacity(wanted.len());
    for (index, wanted) in wanted.chunks(step).enumerate() {
        let hidden = &hidden[index * step * width..][..wanted.len() * width];
        let logits = &mut logits[..wanted.len() * vocabulary];
        head_logits(table, hidden, logits);
        found.par_extend(logits.par_chunks(vocabulary).zip(wanted).map(|(row, wanted)| {
            let log_sum = log_sum_exp(row);
            wanted.iter().map(|w| (f64::from(row[*w as usize]) - log_sum) as f32).collect::<Vec<f32>>()
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
        let table = EmbeddingTable::from_f32(weights.clone(), vocabulary, width);
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
