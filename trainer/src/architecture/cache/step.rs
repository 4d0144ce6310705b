//! One call that appends segments to the cache.

use super::ContextCache;
use super::path::Path;
use crate::architecture::ArchitectureError;
use crate::architecture::batch::Segment;
use crate::nodes::{AttentionShape, DeltaInput, DeltaShape, DeltaStart, DeltaState, DeltaWeights, delta_net_continue};
use std::collections::BTreeMap;
use std::ops::Range;

/// Where a segment's recurrent layers go on from.
enum Origin {
    Empty,
    /// States kept at the end of this path.
    Kept(Path),
    /// The end of an earlier segment of the call.
    Segment(usize),
}

pub(in crate::architecture) struct Step<'a> {
    cache: &'a mut ContextCache,
    segments: &'a [Segment<'a>],
    /// Per segment; empty if no layer is recurrent.
    origins: Vec<Origin>,
    /// Rows that lead to the call's end.
    path: Path,
    /// States at the call's end, by layer.
    ends: BTreeMap<usize, DeltaState>,
}

impl<'a> Step<'a> {
    pub(super) fn new(
        cache: &'a mut ContextCache,
        segments: &'a [Segment<'a>],
        spans: &[Range<usize>],
    ) -> Result<Self, ArchitectureError> {
        let (mut origins, mut paths) = (Vec::new(), Vec::new());
        if let Some(states) = &cache.states {
            for (segment, span) in segments.iter().zip(spans) {
                let context = Path::new(segment.context.iter().cloned());
                let origin = match context.end() {
                    None => Origin::Empty,
                    Some(row) => match paths.iter().position(|path| *path == context) {
                        Some(earlier) => Origin::Segment(earlier),
                        None if states.at(&context).is_some() => Origin::Kept(context.clone()),
                        None => return Err(ArchitectureError::NoState { row }),
                    },
                };
                origins.push(origin);
                paths.push(context.then(cache.rows + span.start..cache.rows + span.end));
            }
        }
        let path = paths.pop().unwrap_or_default();
        Ok(Step { cache, segments, origins, path, ends: BTreeMap::new() })
    }

    /// Appends keys and values (head-major, after rope) to an attention layer and attends to them and each segment's
    /// context. The result is head-major `[heads][tokens][head_dim]`.
    pub fn attend(
        &mut self,
        layer: usize,
        shape: AttentionShape,
        queries: &[f32],
        keys: &[f32],
        values: &[f32],
        spans: &[Range<usize>],
    ) -> Vec<f32> {
        let rows = self.cache.rows;
        self.cache.key_values.append(layer, rows, keys, values);
        self.cache.key_values.attend(layer, rows, shape, queries, (self.segments, spans))
    }

    /// Takes a recurrent layer's states over the new tokens and gives its output, `[T, values]`.
    pub fn recur(
        &mut self,
        layer: usize,
        shape: DeltaShape,
        weights: &DeltaWeights,
        input: DeltaInput<'_>,
        spans: &[Range<usize>],
    ) -> Vec<f32> {
        let start = |origin: &Origin| match origin {
            Origin::Empty => None,
            Origin::Segment(earlier) => Some(DeltaStart::Run(*earlier)),
            Origin::Kept(path) => {
                let kept = self.cache.states.as_ref().and_then(|states| states.at(path));
                kept.and_then(|kept| kept.layers.get(&layer)).map(DeltaStart::Kept)
            }
        };
        let starts: Vec<_> = self.origins.iter().map(|origin| start(origin).unwrap_or(DeltaStart::Empty)).collect();
        let mut out = vec![0.0; input.z.len()];
        let mut ends = delta_net_continue(shape, weights, input, (spans, &starts), &mut out);
        self.ends.extend(ends.pop().map(|end| (layer, end)));
        out
    }

    /// Counts the call's `tokens` rows, once every layer has its share.
    pub fn commit(self, tokens: usize) {
        self.cache.rows += tokens;
        if let Some(states) = &mut self.cache.states {
            states.replace(self.cache.rows, self.path, self.ends);
        }
    }
}
