//! Losses and gradients.

use super::Decoder;
use crate::adapter::{Adapter, AdapterGrads};
use crate::architecture::ArchitectureError;
use crate::architecture::batch::{BatchLoss, Sequence, StepOptions};
use crate::architecture::pass::Pass;
use crate::architecture::tape::Kept;
use crate::architecture::targets::{check_batch, targets};
use crate::memory::layer_bytes;
use crate::nodes::{head_backward, head_logits, head_loss_and_grad};
use hexagon_runtime::Runtime;

impl Decoder {
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
        self.final_norm.backward(&x, &d_normed, &mut dx);
        Ok(self.backward(&mut pass, kept, dx, &options, grads)?.unwrap_or_default())
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

    /// Runs all layers. In training (`keep`) gives what the backward pass needs, from the lowest
    /// adapted layer up; nothing below it has a gradient to compute.
    fn forward(
        &self,
        pass: &mut Pass<'_>,
        mut x: Vec<f32>,
        keep: Option<(&Adapter, &StepOptions)>,
    ) -> Result<(Vec<f32>, Vec<Kept>), ArchitectureError> {
        let lowest = keep.map_or(self.layers.len(), |(adapter, options)| self.lowest(adapter, options));
        let stored = match keep {
            Some((adapter, options)) => {
                let lengths: Vec<usize> = pass.spans.iter().map(|span| span.len()).collect();
                let layers = layer_bytes(&self.config, lowest..self.layers.len(), &lengths, adapter.rank);
                options.activations.choose(&layers)?.stored
            }
            None => Vec::new(),
        };
        let mut kept = Vec::new();
        for layer in &self.layers {
            let mut tape = layer.begin(pass, &x)?;
            let out = layer.finish(pass, &mut tape)?;
            let x_in = std::mem::replace(&mut x, out);
            if layer.index >= lowest {
                kept.push(Kept { x: x_in, tape: stored[kept.len()].then_some(tape) });
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

    /// Summed loss of the target rows, and `scale` times its gradient as `[tokens, hidden]`, zero
    /// elsewhere.
    fn head_loss(&self, x: &[f32], rows: &[usize], wanted: &[u32], scale: f32) -> (f64, Vec<f32>) {
        let hidden = self.config.hidden;
        let (picked, normed) = self.normed_rows(x, rows);
        let mut d_normed = vec![0.0; normed.len()];
        let sum_nll = head_loss_and_grad(self.head(), &normed, wanted, Some((scale, &mut d_normed)));
        let mut d_picked = vec![0.0; normed.len()];
        self.final_norm.backward(&picked, &d_normed, &mut d_picked);
        let mut dx = vec![0.0; x.len()];
        for (row, d) in rows.iter().zip(d_picked.chunks_exact(hidden)) {
            dx[row * hidden..][..hidden].copy_from_slice(d);
        }
        (sum_nll, dx)
    }
}

#[cfg(test)]
mod tests;
