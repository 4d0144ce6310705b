//! h += o(attention(rope(q), rope(k), v)) on the normed residual stream, with the biases, head norms and output gate of
//! the architectures that have them.

use super::ArchitectureError;
use super::adapted::{self, Frozen};
use super::cache::Step;
use super::norm::{Norm, Normed};
use super::pass::Pass;
use crate::nodes::{
    AttentionShape, HeadRows, attention_backward, attention_forward, join_heads, output_gate, output_gate_backward,
    split_heads,
};
use std::borrow::Cow;

pub(super) struct AttentionMixer {
    pub shape: AttentionShape,
    /// q, k, v.
    pub qkv: [Frozen; 3],
    pub o: Frozen,
    /// Norms of each query and key head.
    pub head_norms: Option<[Norm; 2]>,
    /// Whether `q_proj` gives a gate behind each query.
    pub gated: bool,
}

/// What the backward pass reads.
pub(super) struct AttentionTape {
    /// `q_proj` output, `[T, heads·head_dim]`, or twice as wide with gates.
    q_rows: Vec<f32>,
    /// `k_proj` output, `[T, kv_heads·head_dim]`.
    k_rows: Vec<f32>,
    /// Values, head-major.
    v: Vec<f32>,
    /// Attention output `[T, heads·head_dim]`, before the gate.
    attended: Vec<f32>,
    /// Log-sum-exp of each query's scores, `[heads][T]`.
    log_sum: Vec<f32>,
    low_qkv: Vec<f32>,
    low_o: Vec<f32>,
}

/// Projections' rows, and the same after norm and rope, head-major.
struct Heads {
    q_rows: Vec<f32>,
    k_rows: Vec<f32>,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    low: Vec<f32>,
}

impl AttentionMixer {
    fn layout(&self, slot: usize) -> HeadRows {
        let dim = self.shape.head_dim;
        HeadRows { dim, stride: if slot == 0 && self.gated { 2 * dim } else { dim } }
    }

    fn norm(&self, slot: usize) -> Option<crate::nodes::HeadNorm<'_>> {
        self.head_norms.as_ref().map(|norms| norms[slot].head())
    }

    fn project(&self, pass: &mut Pass<'_>, input: Normed<'_>) -> Result<Heads, ArchitectureError> {
        let (tokens, dim) = (pass.tokens, self.shape.head_dim);
        let [mut q, mut k, mut v] =
            [self.shape.heads, self.shape.kv_heads, self.shape.kv_heads].map(|heads| vec![0.0; heads * tokens * dim]);
        let rotation = pass.rotation.clone();
        let (mut rows, low) = adapted::forward(pass, &self.qkv, &input.rows(), |slot, rows| match slot {
            0 => rotation.forward(self.layout(0), self.norm(0), rows, &mut q),
            1 => rotation.forward(self.layout(1), self.norm(1), rows, &mut k),
            _ => split_heads(rows, tokens, dim, &mut v),
        })?;
        let (q_rows, k_rows) = (std::mem::take(&mut rows[0]), std::mem::take(&mut rows[1]));
        Ok(Heads { q_rows, k_rows, q, k, v, low })
    }

    /// Input of `o_proj`.
    fn gate<'a>(&self, attended: &'a [f32], q_rows: &[f32]) -> Cow<'a, [f32]> {
        if !self.gated {
            return Cow::Borrowed(attended);
        }
        let mut out = vec![0.0; attended.len()];
        output_gate(self.shape.head_dim, attended, q_rows, &mut out);
        Cow::Owned(out)
    }

    /// Residual stream after the mixer.
    pub fn forward(
        &self,
        pass: &mut Pass<'_>,
        input: Normed<'_>,
    ) -> Result<(Vec<f32>, AttentionTape), ArchitectureError> {
        let tokens = pass.tokens;
        let Heads { q_rows, k_rows, q, k, v, low: low_qkv } = self.project(pass, input)?;
        let (mut heads, mut log_sum) = (vec![0.0; q.len()], vec![0.0; self.shape.heads * tokens]);
        attention_forward(self.shape, &q, &k, &v, &pass.spans, &mut heads, &mut log_sum);
        let mut attended = vec![0.0; heads.len()];
        join_heads(&heads, tokens, self.shape.head_dim, &mut attended);
        let (x_mid, low_o) = adapted::forward_residual(pass, &self.o, &self.gate(&attended, &q_rows), input.x)?;
        Ok((x_mid, AttentionTape { q_rows, k_rows, v, attended, log_sum, low_qkv, low_o }))
    }

    /// As [`AttentionMixer::forward`] for new tokens that also see what the cache holds.
    pub fn infer(
        &self,
        pass: &mut Pass<'_>,
        input: Normed<'_>,
        layer: usize,
        step: &mut Step<'_>,
    ) -> Result<Vec<f32>, ArchitectureError> {
        let Heads { q_rows, q, k, v, .. } = self.project(pass, input)?;
        let heads = step.attend(layer, self.shape, &q, &k, &v, &pass.spans);
        let mut attended = vec![0.0; heads.len()];
        join_heads(&heads, pass.tokens, self.shape.head_dim, &mut attended);
        Ok(adapted::forward_residual(pass, &self.o, &self.gate(&attended, &q_rows), input.x)?.0)
    }

    /// Gradient of the normed input from that of the stream after the mixer, empty if it is not `wanted`.
    pub fn backward(
        &self,
        pass: &mut Pass<'_>,
        input: Normed<'_>,
        mut tape: AttentionTape,
        dx: &[f32],
        wanted: bool,
        grads: &mut [f32],
    ) -> Result<Vec<f32>, ArchitectureError> {
        let (tokens, dim) = (pass.tokens, self.shape.head_dim);
        let below_heads = wanted || adapted::group(&self.qkv, pass).is_some();
        let low_o = std::mem::take(&mut tape.low_o);
        let mixed = || self.gate(&tape.attended, &tape.q_rows);
        let mut d_attended = adapted::backward_one(pass, &self.o, dx, low_o, mixed, below_heads, grads)?;
        if !below_heads {
            return Ok(Vec::new());
        }
        let mut dq_rows = vec![0.0; tape.q_rows.len()];
        if self.gated {
            output_gate_backward(dim, &tape.attended, &tape.q_rows, &mut d_attended, &mut dq_rows);
        }
        let mut d_heads = vec![0.0; d_attended.len()];
        split_heads(&d_attended, tokens, dim, &mut d_heads);
        drop(d_attended);

        let rotation = pass.rotation.clone();
        let (mut q, mut k) = (vec![0.0; d_heads.len()], vec![0.0; tape.k_rows.len()]);
        rotation.forward(self.layout(0), self.norm(0), &tape.q_rows, &mut q);
        rotation.forward(self.layout(1), self.norm(1), &tape.k_rows, &mut k);
        let (mut dq, mut dk, mut dv) = (vec![0.0; q.len()], vec![0.0; k.len()], vec![0.0; tape.v.len()]);
        attention_backward(
            self.shape,
            (&q, &k, &tape.v),
            &tape.attended,
            &tape.log_sum,
            &d_heads,
            &pass.spans,
            (&mut dq, &mut dk, &mut dv),
        );
        let (mut dk_rows, mut dv_rows) = (vec![0.0; dk.len()], vec![0.0; dv.len()]);
        rotation.backward(self.layout(0), self.norm(0), &tape.q_rows, &dq, &mut dq_rows);
        rotation.backward(self.layout(1), self.norm(1), &tape.k_rows, &dk, &mut dk_rows);
        join_heads(&dv, tokens, dim, &mut dv_rows);
        let d_outputs = [dq_rows.as_slice(), &dk_rows, &dv_rows];
        adapted::backward(pass, &self.qkv, &d_outputs, &tape.low_qkv, || input.rows(), wanted, grads)
    }
}

#[cfg(test)]
impl AttentionTape {
    /// Values held.
    pub fn values(&self) -> usize {
        [&self.q_rows, &self.k_rows, &self.v, &self.attended, &self.log_sum, &self.low_qkv, &self.low_o]
            .iter()
            .map(|part| part.len())
            .sum()
    }
}
