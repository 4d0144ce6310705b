//! Keys and values of the attention layers.

use crate::architecture::batch::Segment;
use crate::nodes::{AttentionShape, Visible, attend, cut};
use crate::registry::ModelConfig;
use rayon::prelude::*;
use std::ops::Range;

pub(super) struct KeyValues {
    head_dim: usize,
    kv_heads: usize,
    /// `[layer · kv_heads + head]`, each `[rows][head_dim]`; those of recurrent layers stay empty.
    keys: Vec<Vec<f32>>,
    values: Vec<Vec<f32>>,
}

impl KeyValues {
    pub fn new(config: &ModelConfig) -> Self {
        let slots = config.layers * config.kv_heads;
        KeyValues {
            head_dim: config.head_dim,
            kv_heads: config.kv_heads,
            keys: vec![Vec::new(); slots],
            values: vec![Vec::new(); slots],
        }
    }

    pub fn truncate(&mut self, rows: usize) {
        for slot in self.keys.iter_mut().chain(&mut self.values) {
            slot.truncate(rows * self.head_dim);
        }
    }

    /// Appends one layer's head-major `[kv_heads][tokens][head_dim]` keys and values behind `rows`.
    pub fn append(&mut self, layer: usize, rows: usize, keys: &[f32], values: &[f32]) {
        let width = keys.len() / self.kv_heads;
        for head in 0..self.kv_heads {
            let slot = layer * self.kv_heads + head;
            self.keys[slot].truncate(rows * self.head_dim);
            self.values[slot].truncate(rows * self.head_dim);
            self.keys[slot].extend_from_slice(&keys[head * width..][..width]);
            self.values[slot].extend_from_slice(&values[head * width..][..width]);
        }
    }

    /// Attention of new tokens whose keys and values were just appended to `layer` behind `rows`: each segment sees its
    /// context and itself. `queries` and the result are head-major `[heads][tokens][head_dim]`.
    pub fn attend(
        &self,
        layer: usize,
        rows: usize,
        shape: AttentionShape,
        queries: &[f32],
        (segments, spans): (&[Segment<'_>], &[Range<usize>]),
    ) -> Vec<f32> {
        let (tokens, dim) = (spans.last().map_or(0, |s| s.end), self.head_dim);
        let mut out = vec![0.0; queries.len()];
        let tasks: Vec<_> = cut(&mut out, tokens, dim, spans).into_iter().flatten().enumerate().collect();
        tasks.into_par_iter().for_each(|(task, out)| {
            let (head, index) = (task / spans.len(), task % spans.len());
            let slot = layer * self.kv_heads + head * self.kv_heads / shape.heads;
            let visible = |rows: Range<usize>, causal| Visible {
                keys: &self.keys[slot][rows.start * dim..rows.end * dim],
                values: &self.values[slot][rows.start * dim..rows.end * dim],
                causal,
            };
            let span = &spans[index];
            let own = visible(rows + span.start..rows + span.end, true);
            let context = segments[index].context.iter().map(|rows| visible(rows.clone(), false));
            let pieces: Vec<_> = context.chain([own]).collect();
            let queries = &queries[(head * tokens + span.start) * dim..(head * tokens + span.end) * dim];
            attend(shape, queries, &pieces, out, &mut vec![0.0; span.len()]);
        });
        out
    }
}
