//! What a row becomes: token ids and which of them are trained.

use super::RowError;
use super::answer_spans::{self, Marked};
use super::row::Row;
use crate::text::TextModel;

/// The label of a position that is not trained.
pub const NO_TARGET: i32 = -100;

/// One training sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Token ids, at least one.
    pub ids: Vec<u32>,
    /// Same length as `ids`, not shifted: the wanted id, or [`NO_TARGET`] where nothing is trained.
    /// Position `t` is scored by the output at `t - 1`, so the label at 0 is never scored.
    pub labels: Vec<i32>,
    /// Line of the file the row came from, counted from 1.
    pub line: usize,
}

/// All rows of a file, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dataset {
    /// The rows.
    pub samples: Vec<Sample>,
    /// How many pre-tokenised rows have no target at all. They are kept (a batch may mix them with
    /// others), but train nothing.
    pub untargeted: usize,
}

impl Sample {
    /// Number of positions that are trained.
    pub fn targets(&self) -> usize {
        let scored = self.labels.iter().skip(1);
        scored.filter(|&&label| label != NO_TARGET).count()
    }

    /// Turns a parsed row into a sample.
    pub(super) fn from_row(
        row: Row,
        line: usize,
        text: Option<&TextModel>,
        vocab: usize,
        max_tokens: usize,
    ) -> Result<Sample, RowError> {
        let (ids, labels) = match row {
            Row::Tokens { ids, labels } => {
                check_tokens(&ids, &labels, vocab)?;
                (ids, labels)
            }
            Row::Messages(messages) => {
                let text = text.ok_or(RowError::NoTokenizer)?;
                let marked = answer_spans::conversation(text, &messages, max_tokens)?;
                let why = "no message with the role `assistant` holds an answer";
                labelled(marked, vocab, why)?
            }
            Row::Completion { prompt, completion } => {
                let text = text.ok_or(RowError::NoTokenizer)?;
                let marked = answer_spans::completion(text, &prompt, &completion, max_tokens)?;
                let why = "`completion` is empty, or it is a single token without a prompt";
                labelled(marked, vocab, why)?
            }
        };
        answer_spans::check_length(&ids, max_tokens)?;
        Ok(Sample { ids, labels, line })
    }
}

/// Ids and labels of a text; a text row without a target is an error.
fn labelled(marked: Marked, vocab: usize, why: &'static str) -> Result<(Vec<u32>, Vec<i32>), RowError> {
    let Marked { ids, answers } = marked;
    check_ids(&ids, vocab)?;
    let mut labels = vec![NO_TARGET; ids.len()];
    for answer in answers {
        for index in answer {
            labels[index] = ids[index] as i32;
        }
    }
    match labels.iter().skip(1).any(|&label| label != NO_TARGET) {
        true => Ok((ids, labels)),
        false => Err(RowError::AllMasked { why }),
    }
}

fn check_ids(ids: &[u32], vocab: usize) -> Result<(), RowError> {
    if ids.is_empty() {
        return Err(RowError::NoTokens);
    }
    match ids.iter().position(|&id| id as usize >= vocab) {
        Some(index) => Err(RowError::IdOutOfRange { index, id: ids[index], vocab }),
        None => Ok(()),
    }
}

fn check_tokens(ids: &[u32], labels: &[i32], vocab: usize) -> Result<(), RowError> {
    if ids.len() != labels.len() {
        return Err(RowError::Unpaired { ids: ids.len(), labels: labels.len() });
    }
    check_ids(ids, vocab)?;
    let allowed = |label: i32| label == NO_TARGET || usize::try_from(label).is_ok_and(|label| label < vocab);
    match labels.iter().position(|&label| !allowed(label)) {
        Some(index) => Err(RowError::LabelOutOfRange { index, label: labels[index], vocab }),
        None => Ok(()),
    }
}
