//! What inference remembers of tokens already seen: keys and values of attention layers, states of recurrent ones.

mod key_values;
mod path;
mod states;
mod step;

pub(super) use step::Step;

use super::ArchitectureError;
use super::batch::Segment;
use crate::registry::ModelConfig;
use key_values::KeyValues;
use states::States;
use std::ops::Range;

/// The context of new tokens. Rows are tokens in the order they were appended; a row knows no position, because rope was
/// applied before it was stored.
///
/// Attention can go on from any rows. A recurrent layer can go on only from where its state was kept: the end of a
/// segment of the same call, the end of the call before, and every end that was pinned.
pub struct ContextCache {
    key_values: KeyValues,
    /// `None` if no layer is recurrent.
    states: Option<States>,
    rows: usize,
}

impl ContextCache {
    /// An empty cache for a model.
    pub fn new(config: &ModelConfig) -> Self {
        let hybrid = (0..config.layers).any(|layer| config.recurrent(layer).is_some());
        ContextCache { key_values: KeyValues::new(config), states: hybrid.then(States::default), rows: 0 }
    }

    /// Number of rows (tokens) held.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether no token is held.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Keeps the present end, so that after more rows and a [`ContextCache::truncate`] back to it segments can go on
    /// from here. Without recurrent layers every row is such an end, and nothing happens.
    pub fn pin(&mut self) {
        if let Some(states) = &mut self.states {
            states.pin(self.rows);
        }
    }

    /// Forgets every row from `rows` on; nothing happens if fewer are held.
    pub fn truncate(&mut self, rows: usize) {
        self.key_values.truncate(rows);
        if let Some(states) = &mut self.states {
            states.truncate(rows);
        }
        self.rows = self.rows.min(rows);
    }

    /// Begins a call that appends `segments`, which lie at `spans` of its tokens.
    ///
    /// # Errors
    /// A context that names rows nobody has filled, or that a recurrent layer cannot go on from.
    pub(super) fn begin<'a>(
        &'a mut self,
        segments: &'a [Segment<'a>],
        spans: &[Range<usize>],
    ) -> Result<Step<'a>, ArchitectureError> {
        for (segment, span) in segments.iter().zip(spans) {
            let rows = self.rows + span.start;
            if let Some(range) = segment.context.iter().find(|r| r.end > rows || r.start > r.end) {
                return Err(ArchitectureError::Context { start: range.start, end: range.end, rows });
            }
        }
        Step::new(self, segments, spans)
    }
}
