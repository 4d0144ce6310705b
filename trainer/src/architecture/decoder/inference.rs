//! New tokens behind a context, and what the head makes of them.

use super::{Decoder, frozen_pass};
use crate::adapter::Adapter;
use crate::architecture::ArchitectureError;
use crate::architecture::batch::Segment;
use crate::architecture::cache::ContextCache;
use crate::architecture::targets::{check_tokens, spans};
use crate::nodes::{Rotation, head_log_probs, head_logits};
use hexagon_runtime::Runtime;

impl Decoder {
    /// Final-normed hidden rows `[Σ tokens, hidden]` of all segments, in order. Each segment's rows are appended to
    /// `cache`; a segment may name rows that an earlier segment of the same call takes. Models with recurrent layers go
    /// on only from the ends that [`ContextCache`] keeps.
    pub fn infer(
        &self,
        runtime: &mut Runtime,
        adapter: Option<&Adapter>,
        segments: &[Segment<'_>],
        cache: &mut ContextCache,
    ) -> Result<Vec<f32>, ArchitectureError> {
        let spans = spans(segments.iter().map(|s| s.ids.len()));
        for segment in segments {
            check_tokens(&self.config, segment.ids, segment.position)?;
        }
        let mut step = cache.begin(segments, &spans)?;
        let mut x = vec![0.0; spans.last().map_or(0, |s| s.end) * self.config.hidden];
        self.embedding.gather(segments.iter().flat_map(|s| s.ids.iter().copied()), &mut x);
        let positions = segments.iter().flat_map(|s| s.position..s.position + s.ids.len());
        let rotation = Rotation::new(&self.frequencies, positions);
        let mut pass = frozen_pass(runtime, adapter, spans, rotation);
        if pass.tokens == 0 {
            return Ok(x);
        }
        for layer in &self.layers {
            x = layer.infer(&mut pass, &x, &mut step)?;
        }
        step.commit(pass.tokens);
        Ok(self.final_normed(&x))
    }

    /// log p of the wanted token ids of each final-normed hidden row; ids must be in the vocabulary.
    pub fn log_probs(&self, hidden: &[f32], wanted: &[Vec<u32>]) -> Vec<Vec<f32>> {
        head_log_probs(self.head(), hidden, wanted)
    }

    /// Logits `[rows, vocab]` of final-normed hidden rows `[rows, hidden]`.
    pub fn head_logits(&self, hidden: &[f32]) -> Vec<f32> {
        let mut logits = vec![0.0; hidden.len() / self.config.hidden * self.config.vocab];
        head_logits(self.head(), hidden, &mut logits);
        logits
    }
}
