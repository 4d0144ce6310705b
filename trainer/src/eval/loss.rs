//! Loss and token accuracy over a data set.

use super::greedy::likeliest;
use super::{EvalError, Subject};
use crate::architecture::{ContextCache, Segment};
use crate::data::Sample;

/// Tokens that go through the model together.
const GROUP_TOKENS: usize = 768;
/// Rows of logits held at a time.
const LOGIT_ROWS: usize = 64;

/// Sums over the targets of a data set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DataLoss {
    /// Sum of −log p over the targets, in nats.
    pub sum_nll: f64,
    /// Number of targets.
    pub targets: usize,
    /// Targets that are the model's likeliest token.
    pub hits: usize,
}

impl DataLoss {
    /// Mean −log p a target, in nats; NaN without targets.
    pub fn loss(&self) -> f64 {
        self.sum_nll / self.targets as f64
    }

    /// Share of targets that are the likeliest token; NaN without targets.
    pub fn accuracy(&self) -> f64 {
        self.hits as f64 / self.targets as f64
    }
}

/// Runs all `samples` forward. `done` is told how many are finished.
///
/// # Errors
/// Whatever the model or the runtime reports, and a loss that is not a number.
pub fn data_loss(
    subject: &mut Subject<'_>,
    samples: &[Sample],
    done: &mut dyn FnMut(usize),
) -> Result<DataLoss, EvalError> {
    let width = subject.decoder.config().hidden;
    let mut cache = ContextCache::new(subject.decoder.config());
    let mut sum = DataLoss::default();
    let mut start = 0;
    while start < samples.len() {
        let end = group_end(samples, start);
        let group = &samples[start..end];
        cache.truncate(0);
        let segments: Vec<Segment> =
            group.iter().map(|sample| Segment { ids: &sample.ids, position: 0, context: Vec::new() }).collect();
        let hidden = subject.decoder.infer(subject.runtime, subject.adapter, &segments, &mut cache)?;
        let (rows, targets): (Vec<usize>, Vec<u32>) = targets(group).unzip();
        let outputs: Vec<f32> = rows.iter().flat_map(|row| &hidden[row * width..(row + 1) * width]).copied().collect();
        let wanted: Vec<Vec<u32>> = targets.iter().map(|&id| vec![id]).collect();
        let log_probs = subject.decoder.log_probs(&outputs, &wanted);
        sum.sum_nll -= log_probs.iter().map(|row| f64::from(row[0])).sum::<f64>();
        sum.targets += targets.len();
        for (outputs, targets) in outputs.chunks(LOGIT_ROWS * width).zip(targets.chunks(LOGIT_ROWS)) {
            let logits = subject.decoder.head_logits(outputs);
            for (logits, &target) in logits.chunks_exact(subject.decoder.config().vocab).zip(targets) {
                sum.hits += usize::from(likeliest(logits)? == target);
            }
        }
        start = end;
        done(end);
    }
    if sum.sum_nll.is_finite() { Ok(sum) } else { Err(EvalError::NotANumber) }
}

/// One past the last sample of the group that begins at `start`.
fn group_end(samples: &[Sample], start: usize) -> usize {
    let mut tokens = 0;
    let within = samples[start..].iter().take_while(|sample| {
        tokens += sample.ids.len();
        tokens <= GROUP_TOKENS
    });
    // A longer sample goes alone.
    start + within.count().max(1)
}

/// Output row and token of every target, rows counted over the whole group: the output at `t − 1` predicts token `t`.
fn targets(group: &[Sample]) -> impl Iterator<Item = (usize, u32)> {
    let mut first = 0;
    group.iter().flat_map(move |sample| {
        let row = first;
        first += sample.ids.len();
        let labels = sample.labels.iter().enumerate().skip(1);
        labels.filter_map(move |(t, &label)| Some((row + t - 1, u32::try_from(label).ok()?)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(labels: &[i32]) -> Sample {
        Sample { ids: vec![1; labels.len()], labels: labels.to_vec(), line: 1 }
    }

    #[test]
    fn targets_are_read_one_row_before_their_token() {
        let group = [sample(&[-100, 4, -100, 6]), sample(&[9, 8])];
        // The label at 0 has no output to predict it.
        assert_eq!(targets(&group).collect::<Vec<_>>(), [(0, 4), (2, 6), (4, 8)]);
    }

    #[test]
    fn groups_stay_within_the_budget_unless_a_sample_is_longer() {
        let samples = [sample(&[-100; 700]), sample(&[-100; 68]), sample(&[-100; 1]), sample(&[-100; 900])];
        assert_eq!(group_end(&samples, 0), 2);
        assert_eq!(group_end(&samples, 2), 3);
        assert_eq!(group_end(&samples, 3), 4);
    }
}
