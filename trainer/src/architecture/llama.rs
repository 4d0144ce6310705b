//! The Llama architecture: embedding, decoder layers, final norm, tied or untied head.

use super::ArchitectureError;
use super::batch::{BatchLoss, Segment, Sequence, StepOptions};
use super::cache::KvCache;
use super::layer::{Inner, Layer};
use super::load;
use super::pass::Pass;
use super::tape::{Activations, LayerTape};
use super::targets::{check_batch, check_tokens, spans, targets};
use crate::adapter::{Adapter, AdapterGrads, ProjectionShape};
use crate::model_file::ModelFile;
use crate::nodes::{
    DropoutKey, EmbeddingTable, Rotation, head_backward, head_log_probs, head_logits, head_loss_and_grad,
    inverse_frequencies, rms_norm, rms_norm_backward,
};
use crate::registry::{Architecture, ModelConfig, PrecisionPolicy};
use hexagon_runtime::{Runtime, RuntimeBuilder};
use std::ops::Range;

/// A frozen Llama-shaped model. Its projections live in the [`Runtime`], embedding, head and norms
/// here.
pub struct Llama {
    config: ModelConfig,
    projections: Vec<ProjectionShape>,
    frequencies: Vec<f64>,
    embedding: EmbeddingTable,
    /// None if the embedding is the head.
    head: Option<EmbeddingTable>,
    final_norm: Vec<f32>,
    layers: Vec<Layer>,
}

/// What the forward pass keeps of one layer: its input, and the rest if it is stored.
struct Kept {
    x: Vec<f32>,
    tape: Option<LayerTape>,
}

impl Llama {
    /// Registers every projection with `builder` under its HF name without `.weight`, in the policy's precision.
    pub fn load(
        model: &ModelFile,
        builder: &mut RuntimeBuilder,
        policy: PrecisionPolicy,
    ) -> Result<Llama, ArchitectureError> {
        let (config, tensors) = (model.config.clone(), model.tensors.as_ref());
        if config.architecture != Architecture::Llama {
            return Err(ArchitectureError::Unsupported { name: config.architecture.description().name });
        }
        let (vocab, hidden) = (config.vocab, config.hidden);
        let head = match config.tied_head {
            true => None,
            false => Some(load::table(tensors, "lm_head.weight", vocab, hidden)?),
        };
        let layers = (0..config.layers).map(|index| load::layer(&config, index, tensors, builder, &policy));
        let layers = layers.collect::<Result<Vec<_>, _>>()?;
        Ok(Llama {
            projections: layers.iter().flat_map(|layer| layer.shapes.clone()).collect(),
            frequencies: inverse_frequencies(&config.rope, config.head_dim),
            embedding: load::table(tensors, "model.embed_tokens.weight", vocab, hidden)?,
            head,
            final_norm: load::vector(tensors, "model.norm.weight", hidden)?,
            layers,
            config,
        })
    }

    /// The model's configuration.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Name and shape of every projection, in model order.
    pub fn projections(&self) -> &[ProjectionShape] {
        &self.projections
    }

    /// Bytes the backward pass needs per token for the layers' activations.
    pub fn bytes_per_token(&self, activations: Activations) -> usize {
        let layer = match activations {
            Activations::Recompute => 4 * self.config.hidden,
            Activations::Store => 4 * self.config.hidden + self.layers.first().map_or(0, Layer::bytes_per_token),
        };
        layer * self.layers.len()
    }

    /// Summed loss of a micro-batch; adds `options.loss_scale` times its gradient to `grads`. A
    /// batch without a target has loss 0 and adds nothing.
    pub fn loss_and_grad(
        &self,
        runtime: &mut Runtime,
        adapter: &Adapter,
        batch: &[Sequence],
        options: &StepOptions,
        grads: &mut AdapterGrads,
    ) -> Result<BatchLoss, ArchitectureError> {
        check_batch(&self.config, batch)?;
        let mut pass = self.training_pass(runtime, adapter, batch, options);
        let (rows, wanted) = targets(batch, &pass.spans);
        if rows.is_empty() {
            let zeros = options.inputs_embeds_grad.then(|| vec![0.0; pass.tokens * self.config.hidden]);
            return Ok(BatchLoss { sum_nll: 0.0, targets: 0, inputs_embeds_grad: zeros });
        }
        let (x, kept) = self.forward(&mut pass, self.embed(batch), Some((adapter, options)))?;
        let (sum_nll, dx) = self.head_loss(&x, &rows, &wanted, options.loss_scale);
        drop(x);
        let inputs_embeds_grad = self.backward(&mut pass, kept, dx, options, grads)?;
        Ok(BatchLoss { sum_nll, targets: wanted.len(), inputs_embeds_grad })
    }

    /// Summed loss of a batch, without gradients and without dropout.
    pub fn loss(
        &self,
        runtime: &mut Runtime,
        adapter: Option<&Adapter>,
        batch: &[Sequence],
    ) -> Result<BatchLoss, ArchitectureError> {
        check_batch(&self.config, batch)?;
        let mut pass = self.inference_pass(runtime, adapter, batch);
        let (x, _) = self.forward(&mut pass, self.embed(batch), None)?;
        let (rows, wanted) = targets(batch, &pass.spans);
        let normed = self.normed_rows(&x, &rows).1;
        let sum_nll = head_loss_and_grad(self.head(), &normed, &wanted, None);
        Ok(BatchLoss { sum_nll, targets: wanted.len(), inputs_embeds_grad: None })
    }

    /// Logits of every token, `[tokens, vocab]`, sequences one after the other.
    pub fn logits(
        &self,
        runtime: &mut Runtime,
        adapter: Option<&Adapter>,
        batch: &[Sequence],
    ) -> Result<Vec<f32>, ArchitectureError> {
        check_batch(&self.config, batch)?;
        let mut pass = self.inference_pass(runtime, adapter, batch);
        let (x, _) = self.forward(&mut pass, self.embed(batch), None)?;
        let mut logits = vec![0.0; pass.tokens * self.config.vocab];
        head_logits(self.head(), &self.final_normed(&x), &mut logits);
        Ok(logits)
    }

    /// Adds the gradient of `loss_scale · Σ logits · cotangent` to `grads` (`cotangent` is `[tokens,
    /// vocab]`) and gives that of the embedding output, `[tokens, hidden]`.
    pub fn grad_from_cotangent(
        &self,
        runtime: &mut Runtime,
        adapter: &Adapter,
        batch: &[Sequence],
        cotangent: &[f32],
        options: &StepOptions,
        grads: &mut AdapterGrads,
    ) -> Result<Vec<f32>, ArchitectureError> {
        check_batch(&self.config, batch)?;
        let options = StepOptions { inputs_embeds_grad: true, ..*options };
        let mut pass = self.training_pass(runtime, adapter, batch, &options);
        let expected = pass.tokens * self.config.vocab;
        if cotangent.len() != expected {
            return Err(ArchitectureError::Cotangent { found: cotangent.len(), expected });
        }
        let (x, kept) = self.forward(&mut pass, self.embed(batch), Some((adapter, &options)))?;
        let mut d_normed = vec![0.0; x.len()];
        head_backward(self.head(), cotangent, &mut d_normed);
        d_normed.iter_mut().for_each(|d| *d *= options.loss_scale);
        let mut dx = vec![0.0; x.len()];
        rms_norm_backward(&x, &self.final_norm, self.config.norm_eps, &d_normed, &mut dx);
        Ok(self.backward(&mut pass, kept, dx, &options, grads)?.unwrap_or_default())
    }

    /// Final-normed hidden rows `[Σ tokens, hidden]` of all segments, in order. Each segment's keys
    /// and values are appended to `cache`; a segment may name rows that an earlier segment of the
    /// same call takes.
    pub fn infer(
        &self,
        runtime: &mut Runtime,
        adapter: Option<&Adapter>,
        segments: &[Segment<'_>],
        cache: &mut KvCache,
    ) -> Result<Vec<f32>, ArchitectureError> {
        let spans = spans(segments.iter().map(|s| s.ids.len()));
        for (segment, span) in segments.iter().zip(&spans) {
            check_tokens(&self.config, segment.ids, segment.position)?;
            let rows = cache.len() + span.start;
            if let Some(range) = segment.context.iter().find(|r| r.end > rows || r.start > r.end) {
                return Err(ArchitectureError::Context { start: range.start, end: range.end, rows });
            }
        }
        let mut x = vec![0.0; spans.last().map_or(0, |s| s.end) * self.config.hidden];
        self.embedding.gather(segments.iter().flat_map(|s| s.ids.iter().copied()), &mut x);
        let positions = segments.iter().flat_map(|s| s.position..s.position + s.ids.len());
        let rotation = Rotation::new(&self.frequencies, positions);
        let mut pass = frozen_pass(runtime, adapter, spans, rotation);
        if pass.tokens == 0 {
            return Ok(x);
        }
        for layer in &self.layers {
            let qkv = layer.project(&mut pass, &x)?;
            cache.append(layer.index, &qkv.k, &qkv.v);
            let heads = cache.attend(layer.index, layer.attention, &qkv.q, segments, &pass.spans);
            let x_mid = layer.leave_attention(&mut pass, &x, &heads)?.x_mid;
            let Inner { gate, up, .. } = layer.enter_mlp(&mut pass, &x_mid)?;
            x = layer.leave_mlp(&mut pass, &x_mid, &gate, &up)?.0;
        }
        cache.commit(pass.tokens);
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

    fn head(&self) -> &EmbeddingTable {
        self.head.as_ref().unwrap_or(&self.embedding)
    }

    fn embed(&self, batch: &[Sequence]) -> Vec<f32> {
        let tokens: usize = batch.iter().map(|s| s.ids.len()).sum();
        let mut x = vec![0.0; tokens * self.config.hidden];
        self.embedding.gather(batch.iter().flat_map(|s| s.ids.iter().copied()), &mut x);
        x
    }

    fn rotation(&self, batch: &[Sequence]) -> Rotation {
        let positions = batch.iter().flat_map(|s| s.position..s.position + s.ids.len());
        Rotation::new(&self.frequencies, positions)
    }

    fn training_pass<'a>(
        &self,
        runtime: &'a mut Runtime,
        adapter: &'a Adapter,
        batch: &[Sequence],
        options: &StepOptions,
    ) -> Pass<'a> {
        let pass = self.inference_pass(runtime, Some(adapter), batch);
        Pass { training: true, overlap: options.overlap, dropout: options.dropout, ..pass }
    }

    fn inference_pass<'a>(
        &self,
        runtime: &'a mut Runtime,
        adapter: Option<&'a Adapter>,
        batch: &[Sequence],
    ) -> Pass<'a> {
        frozen_pass(runtime, adapter, spans(batch.iter().map(|s| s.ids.len())), self.rotation(batch))
    }

    /// Runs all layers. In training (`keep`) gives what the backward pass needs, from the lowest
    /// adapted layer up; nothing below it has a gradient to compute.
    fn forward(
        &self,
        pass: &mut Pass<'_>,
        mut x: Vec<f32>,
        keep: Option<(&Adapter, &StepOptions)>,
    ) -> Result<(Vec<f32>, Vec<Kept>), ArchitectureError> {
        let lowest = keep.map_or(self.layers.len(), |(adapter, options)| self.lowest(adapter, options));
        let mut kept = Vec::new();
        for layer in &self.layers {
            let mut tape = layer.begin(pass, &x)?;
            let (out, low_down) = layer.leave_mlp(pass, &tape.x_mid, &tape.gate, &tape.up)?;
            let x_in = std::mem::replace(&mut x, out);
            if layer.index >= lowest {
                tape.low_down = low_down;
                let store = keep.is_some_and(|(_, options)| options.activations == Activations::Store);
                kept.push(Kept { x: x_in, tape: store.then_some(tape) });
            }
        }
        Ok((x, kept))
    }

    /// The lowest layer the backward pass reaches.
    fn lowest(&self, adapter: &Adapter, options: &StepOptions) -> usize {
        let adapted = || self.layers.iter().position(|layer| layer.is_adapted(adapter));
        if options.inputs_embeds_grad { 0 } else { adapted().unwrap_or(self.layers.len()) }
    }

    /// Takes the gradient of the last layer's output down to the lowest adapted layer, or to the
    /// embedding output.
    fn backward(
        &self,
        pass: &mut Pass<'_>,
        mut kept: Vec<Kept>,
        mut dx: Vec<f32>,
        options: &StepOptions,
        grads: &mut AdapterGrads,
    ) -> Result<Option<Vec<f32>>, ArchitectureError> {
        for layer in self.layers.iter().rev() {
            let Some(Kept { x, tape }) = kept.pop() else { break };
            let tape = match tape {
                Some(tape) => tape,
                None => layer.begin(pass, &x)?,
            };
            let wanted = options.inputs_embeds_grad || !kept.is_empty();
            dx = layer.backward(pass, &x, tape, dx, wanted, &mut grads.values)?;
        }
        Ok(options.inputs_embeds_grad.then_some(dx))
    }

    fn final_normed(&self, x: &[f32]) -> Vec<f32> {
        let mut normed = vec![0.0; x.len()];
        rms_norm(x, &self.final_norm, self.config.norm_eps, &mut normed);
        normed
    }

    /// The given rows of `x`, and the same normed.
    fn normed_rows(&self, x: &[f32], rows: &[usize]) -> (Vec<f32>, Vec<f32>) {
        let hidden = self.config.hidden;
        let picked: Vec<f32> = rows.iter().flat_map(|row| &x[row * hidden..][..hidden]).copied().collect();
        let normed = self.final_normed(&picked);
        (picked, normed)
    }

    /// Summed loss of the target rows, and `scale` times its gradient as `[tokens, hidden]`, zero
    /// elsewhere.
    fn head_loss(&self, x: &[f32], rows: &[usize], wanted: &[u32], scale: f32) -> (f64, Vec<f32>) {
        let hidden = self.config.hidden;
        let (picked, normed) = self.normed_rows(x, rows);
        let mut d_normed = vec![0.0; normed.len()];
        let sum_nll = head_loss_and_grad(self.head(), &normed, wanted, Some((scale, &mut d_normed)));
        let mut d_picked = vec![0.0; normed.len()];
        rms_norm_backward(&picked, &self.final_norm, self.config.norm_eps, &d_normed, &mut d_picked);
        let mut dx = vec![0.0; x.len()];
        for (row, d) in rows.iter().zip(d_picked.chunks_exact(hidden)) {
            dx[row * hidden..][..hidden].copy_from_slice(d);
        }
        (sum_nll, dx)
    }
}

fn frozen_pass<'a>(
    runtime: &'a mut Runtime,
    adapter: Option<&'a Adapter>,
    spans: Vec<Range<usize>>,
    rotation: Rotation,
) -> Pass<'a> {
    Pass {
        runtime,
        adapter,
        training: false,
        overlap: true,
        dropout: DropoutKey::default(),
        tokens: spans.last().map_or(0, |s| s.end),
        spans,
        rotation,
    }
}
