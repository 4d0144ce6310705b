//! Checks a batch and finds the rows that are trained.

use super::ArchitectureError;
use super::batch::{NO_TARGET, Sequence};
use crate::registry::ModelConfig;
use std::ops::Range;

/// Where each of `lengths` lies when they are packed one after the other.
pub(super) fn spans(lengths: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut end = 0;
    let mut span = |length| {
        let start = end;
        end += length;
        start..end
    };
    lengths.map(&mut span).collect()
}

/// Checks ids and positions of one run of tokens.
pub(super) fn check_tokens(config: &ModelConfig, ids: &[u32], position: usize) -> Result<(), ArchitectureError> {
    if let Some(id) = ids.iter().find(|id| **id as usize >= config.vocab) {
        return Err(ArchitectureError::TokenOutOfRange { id: i64::from(*id), vocab: config.vocab });
    }
    match position + ids.len() {
        end if end > config.max_positions => {
            Err(ArchitectureError::TooLong { position: end - 1, max: config.max_positions })
        }
        _ => Ok(()),
    }
}

/// Checks a training batch.
pub(super) fn check_batch(config: &ModelConfig, batch: &[Sequence]) -> Result<(), ArchitectureError> {
    for sequence in batch {
        check_tokens(config, &sequence.ids, sequence.position)?;
        if sequence.ids.len() != sequence.labels.len() {
            return Err(ArchitectureError::LabelCount { ids: sequence.ids.len(), labels: sequence.labels.len() });
        }
        let legal = |label: &i32| *label == NO_TARGET || (*label >= 0 && (*label as usize) < config.vocab);
        if let Some(label) = sequence.labels.iter().find(|label| !legal(label)) {
            return Err(ArchitectureError::TokenOutOfRange { id: i64::from(*label), vocab: config.vocab });
        }
    }
    Ok(())
}

/// Packed rows that predict a target, and the targets: row t of a sequence predicts label t + 1.
pub(super) fn targets(batch: &[Sequence], spans: &[Range<usize>]) -> (Vec<usize>, Vec<u32>) {
    let of_sequence = |(sequence, span): (&Sequence, &Range<usize>)| {
        let start = span.start;
        let labels = sequence.labels.iter().enumerate().skip(1).filter(|(_, label)| **label != NO_TARGET);
        labels.map(|(t, label)| (start + t - 1, *label as u32)).collect::<Vec<_>>()
    };
    batch.iter().zip(spans).flat_map(of_sequence).unzip()
}
