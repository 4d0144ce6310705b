//! Which rows make a step, and how a step is cut to fit the memory.

use super::options::TrainOptions;
use crate::architecture::{NO_TARGET, Sequence};
use crate::data::Sample;
use crate::nodes::mix;

/// Order and grouping of the rows: a step's rows follow from its number alone.
pub(super) struct Batches<'a> {
    samples: &'a [Sample],
    options: &'a TrainOptions,
    /// The epoch whose order is at hand.
    epoch: usize,
    order: Vec<usize>,
}

impl<'a> Batches<'a> {
    pub fn new(samples: &'a [Sample], options: &'a TrainOptions) -> Self {
        let mut batches = Batches { samples, options, epoch: 0, order: Vec::new() };
        batches.draw(0);
        batches
    }

    fn rows_per_step(&self) -> usize {
        self.options.batch_rows.saturating_mul(self.options.accumulate).max(1)
    }

    /// The last step of an epoch takes what is left of it.
    fn steps_per_epoch(&self) -> usize {
        self.samples.len().div_ceil(self.rows_per_step()).max(1)
    }

    /// Steps of the whole run.
    pub fn total_steps(&self) -> usize {
        self.options.steps.unwrap_or(self.options.epochs.saturating_mul(self.steps_per_epoch()))
    }

    /// No micro-batch of the run has more tokens than this.
    pub fn most_tokens(&self) -> usize {
        let trained = self.samples.iter().filter_map(|sample| last_target(sample).map(|last| last + 1));
        let longest = trained.max().unwrap_or(0);
        longest.max(self.options.micro_tokens.min(longest.saturating_mul(self.options.batch_rows)))
    }

    /// Rows of step `step`, counted from 0.
    pub fn step(&mut self, step: usize) -> Vec<&'a Sample> {
        let (epoch, within) = (step / self.steps_per_epoch(), step % self.steps_per_epoch());
        if epoch != self.epoch {
            self.draw(epoch);
        }
        let start = within * self.rows_per_step();
        let end = self.order.len().min(start.saturating_add(self.rows_per_step()));
        self.order[start..end].iter().map(|row| &self.samples[*row]).collect()
    }

    /// Fisher and Yates' shuffle, keyed by seed and epoch.
    fn draw(&mut self, epoch: usize) {
        self.epoch = epoch;
        self.order = (0..self.samples.len()).collect();
        if self.options.shuffle {
            let key = mix(mix(self.options.seed) ^ epoch as u64);
            for i in (1..self.order.len()).rev() {
                let drawn = mix(key.wrapping_add(i as u64));
                let j = (u128::from(drawn) * (i as u128 + 1)) >> 64;
                self.order.swap(i, j as usize);
            }
        }
    }

    /// Cuts a step's rows into micro-batches: never across two of its `accumulate` parts, and up to
    /// `micro_tokens` tokens, but at least one row. Rows are shortened to what is trained.
    pub fn micro_batches(&self, rows: &[&Sample]) -> Vec<Vec<Sequence>> {
        let mut cut = Vec::new();
        for part in rows.chunks(self.options.batch_rows.max(1)) {
            let (mut batch, mut tokens) = (Vec::new(), 0);
            for sequence in part.iter().filter_map(|sample| trained_part(sample)) {
                let len = sequence.ids.len();
                if tokens + len > self.options.micro_tokens && !batch.is_empty() {
                    cut.push(std::mem::take(&mut batch));
                    tokens = 0;
                }
                tokens += len;
                batch.push(sequence);
            }
            if !batch.is_empty() {
                cut.push(batch);
            }
        }
        cut
    }
}

/// Place of a row's last target.
fn last_target(sample: &Sample) -> Option<usize> {
    sample.labels.iter().skip(1).rposition(|label| *label != NO_TARGET).map(|before| before + 1)
}

/// A row up to its last target: what follows influences nothing, because attention looks back only.
/// None if it has no target.
fn trained_part(sample: &Sample) -> Option<Sequence> {
    let last = last_target(sample)?;
    Some(Sequence { ids: sample.ids[..=last].to_vec(), labels: sample.labels[..=last].to_vec(), position: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: usize) -> Vec<Sample> {
        let sample = |i: usize| Sample { ids: vec![i as u32; 10], labels: vec![1; 10], line: i + 1 };
        (0..count).map(sample).collect()
    }

    fn options() -> TrainOptions {
        TrainOptions { batch_rows: 2, accumulate: 2, micro_tokens: 15, ..TrainOptions::default() }
    }

    #[test]
    fn every_epoch_takes_every_row_once_in_its_own_order() {
        let (samples, options) = (samples(10), options());
        let mut batches = Batches::new(&samples, &options);
        assert_eq!(batches.total_steps(), 3);
        let mut epoch =
            |e: usize| -> Vec<usize> { (3 * e..3 * e + 3).flat_map(|s| batches.step(s)).map(|s| s.line).collect() };
        let (first, second) = (epoch(0), epoch(1));
        assert_ne!(first, second);
        assert_eq!(epoch(0), first);
        let mut sorted = first;
        sorted.sort();
        assert_eq!(sorted, (1..=10).collect::<Vec<_>>());
    }

    #[test]
    fn without_shuffling_rows_come_in_order_and_repeat() {
        let samples = samples(6);
        let options = TrainOptions { shuffle: false, accumulate: 1, steps: Some(7), ..options() };
        let mut batches = Batches::new(&samples, &options);
        assert_eq!(batches.total_steps(), 7);
        let lines: Vec<Vec<usize>> = (0..4).map(|s| batches.step(s).iter().map(|s| s.line).collect()).collect();
        assert_eq!(lines, [[1, 2], [3, 4], [5, 6], [1, 2]]);
    }

    #[test]
    fn micro_batches_hold_the_token_limit_and_only_what_is_trained() {
        let mut samples = samples(5);
        samples[1].labels = vec![NO_TARGET; 10];
        samples[2].labels[5..].fill(NO_TARGET);
        samples[3].labels = [vec![7], vec![NO_TARGET; 9]].concat();
        let options = TrainOptions { batch_rows: 5, ..options() };
        let batches = Batches::new(&samples, &options);
        let cut = batches.micro_batches(&samples.iter().collect::<Vec<_>>());
        let lengths: Vec<Vec<usize>> = cut.iter().map(|b| b.iter().map(|s| s.ids.len()).collect()).collect();
        assert_eq!(lengths, [vec![10, 5], vec![10]]);
        let targets: usize = cut.iter().flatten().map(Sequence::targets).sum();
        assert_eq!(targets, 9 + 4 + 9);
        assert_eq!(batches.most_tokens(), 15);
        for (micro_tokens, batch_rows, most) in [(15, 1, 10), (4, 5, 10), (100, 3, 30)] {
            let options = TrainOptions { batch_rows, micro_tokens, ..TrainOptions::default() };
            assert_eq!(Batches::new(&samples, &options).most_tokens(), most);
        }
    }
}
