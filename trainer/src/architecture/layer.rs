//! One decoder layer, forward: h += o(attention(rope(q, k), v)) and h += down(SiLU(gate)·up), each
//! on the RMS-normed residual stream.

use super::ArchitectureError;
use super::pass::Pass;
use super::tape::LayerTape;
use crate::adapter::{Adapter, ProjectionShape};
use crate::nodes::{
    AttentionShape, LoraGroup, attention_cost, attention_forward, join_heads, rms_norm, split_heads, swiglu,
};
use hexagon_runtime::{Direction, ProjectionId};
use std::ops::Range;

pub(super) const QKV: Range<usize> = 0..3;
pub(super) const O: Range<usize> = 3..4;
pub(super) const GATE_UP: Range<usize> = 4..6;
pub(super) const DOWN: Range<usize> = 6..7;

pub(super) struct Layer {
    pub index: usize,
    pub attention: AttentionShape,
    pub hidden: usize,
    pub intermediate: usize,
    pub norm_eps: f32,
    pub input_norm: Vec<f32>,
    pub post_norm: Vec<f32>,
    pub ids: [ProjectionId; 7],
    pub shapes: [ProjectionShape; 7],
}

/// Queries, keys (after rope) and values, head-major, and A·x of their adapters.
pub(super) struct Qkv {
    pub q: Vec<f32>,
    pub k: Vec<f32>,
    pub v: Vec<f32>,
    pub low: Vec<f32>,
}

/// What lies between the heads and the MLP: attention output rows, A·x of the adapter on o, and the
/// residual stream after it.
pub(super) struct Mid {
    pub attended: Vec<f32>,
    pub low: Vec<f32>,
    pub x_mid: Vec<f32>,
}

/// The MLP's inner values and A·x of the adapters on gate and up.
pub(super) struct Inner {
    pub gate: Vec<f32>,
    pub up: Vec<f32>,
    pub low: Vec<f32>,
}

impl Layer {
    /// The adapters of projections that share an input.
    pub fn group<'a>(
        &self,
        slots: Range<usize>,
        adapter: Option<&'a Adapter>,
        training: bool,
    ) -> Option<LoraGroup<'a>> {
        LoraGroup::new(adapter, self.shapes[slots].iter().map(|s| s.name.as_str()), training)
    }

    /// Whether any projection of the layer carries an adapter.
    pub fn is_adapted(&self, adapter: &Adapter) -> bool {
        self.shapes.iter().any(|shape| adapter.index_of(&shape.name).is_some())
    }

    /// Bytes the tape takes per token: what the nodes' costs say, without adapters' products.
    pub fn bytes_per_token(&self) -> usize {
        let attention = attention_cost(self.attention, 1);
        let projected = 4 * (0..6).map(|slot| self.shapes[slot].out).sum::<usize>();
        attention.bytes as usize + projected
    }

    /// Training forward up to the MLP's inner values; `finish` gives the layer's output.
    pub fn begin(&self, pass: &mut Pass<'_>, x: &[f32]) -> Result<LayerTape, ArchitectureError> {
        let Qkv { q, k, v, low: low_qkv } = self.project(pass, x)?;
        let mut heads = vec![0.0; q.len()];
        let mut log_sum = vec![0.0; self.attention.heads * pass.tokens];
        attention_forward(self.attention, &q, &k, &v, &pass.spans, &mut heads, &mut log_sum);
        let Mid { attended, low: low_o, x_mid } = self.leave_attention(pass, x, &heads)?;
        let Inner { gate, up, low: low_gate_up } = self.enter_mlp(pass, &x_mid)?;
        let low_down = Vec::new();
        Ok(LayerTape { q, k, v, attended, log_sum, x_mid, gate, up, low_qkv, low_o, low_gate_up, low_down })
    }

    /// Norm, q, k, v with their adapters, rope.
    pub fn project(&self, pass: &mut Pass<'_>, x: &[f32]) -> Result<Qkv, ArchitectureError> {
        let (tokens, dim, key) = (pass.tokens, self.attention.head_dim, pass.dropout);
        let group = self.group(QKV, pass.adapter, pass.training);
        let mut normed = vec![0.0; x.len()];
        rms_norm(x, &self.input_norm, self.norm_eps, &mut normed);
        let outs = [0, 1, 2].map(|slot| self.shapes[slot].out);
        let rows = outs.map(|out| vec![0.0; tokens * out]);
        let [mut q_rows, mut k_rows, mut v_rows] = rows;
        let [mut q, mut k, mut v] = outs.map(|out| vec![0.0; tokens * out]);

        let low = pass.request(self.ids[0], Direction::Forward, &normed, &mut q_rows, || {
            group.as_ref().map_or_else(Vec::new, |g| g.down(&normed, tokens, key))
        })?;
        // The rotation is lent out of the pass while a request borrows the pass.
        let rotation = std::mem::take(&mut pass.rotation);
        let done = pass.request(self.ids[1], Direction::Forward, &normed, &mut k_rows, || {
            adapt(&group, 0, &low, tokens, &mut q_rows);
            rotation.forward(&q_rows, &mut q);
        });
        let done = done.and_then(|()| {
            pass.request(self.ids[2], Direction::Forward, &normed, &mut v_rows, || {
                adapt(&group, 1, &low, tokens, &mut k_rows);
                rotation.forward(&k_rows, &mut k);
            })
        });
        pass.rotation = rotation;
        done?;
        adapt(&group, 2, &low, tokens, &mut v_rows);
        split_heads(&v_rows, tokens, dim, &mut v);
        Ok(Qkv { q, k, v, low })
    }

    /// Joins the heads, applies o and adds the residual.
    pub fn leave_attention(&self, pass: &mut Pass<'_>, x: &[f32], heads: &[f32]) -> Result<Mid, ArchitectureError> {
        let (tokens, key) = (pass.tokens, pass.dropout);
        let group = self.group(O, pass.adapter, pass.training);
        let mut attended = vec![0.0; heads.len()];
        join_heads(heads, tokens, self.attention.head_dim, &mut attended);
        let mut x_mid = vec![0.0; x.len()];
        let low = pass.request(self.ids[3], Direction::Forward, &attended, &mut x_mid, || {
            group.as_ref().map_or_else(Vec::new, |g| g.down(&attended, tokens, key))
        })?;
        adapt(&group, 0, &low, tokens, &mut x_mid);
        add(&mut x_mid, x);
        Ok(Mid { attended, low, x_mid })
    }

    /// Norm, gate and up with their adapters.
    pub fn enter_mlp(&self, pass: &mut Pass<'_>, x_mid: &[f32]) -> Result<Inner, ArchitectureError> {
        let (tokens, key) = (pass.tokens, pass.dropout);
        let group = self.group(GATE_UP, pass.adapter, pass.training);
        let mut normed = vec![0.0; x_mid.len()];
        rms_norm(x_mid, &self.post_norm, self.norm_eps, &mut normed);
        let [mut gate, mut up] = [(); 2].map(|()| vec![0.0; tokens * self.intermediate]);
        let low = pass.request(self.ids[4], Direction::Forward, &normed, &mut gate, || {
            group.as_ref().map_or_else(Vec::new, |g| g.down(&normed, tokens, key))
        })?;
        pass.request(self.ids[5], Direction::Forward, &normed, &mut up, || {
            adapt(&group, 0, &low, tokens, &mut gate);
        })?;
        adapt(&group, 1, &low, tokens, &mut up);
        Ok(Inner { gate, up, low })
    }

    /// SwiGLU, down and the residual: (layer output, A·x).
    pub fn leave_mlp(
        &self,
        pass: &mut Pass<'_>,
        x_mid: &[f32],
        gate: &[f32],
        up: &[f32],
    ) -> Result<(Vec<f32>, Vec<f32>), ArchitectureError> {
        let (tokens, key) = (pass.tokens, pass.dropout);
        let group = self.group(DOWN, pass.adapter, pass.training);
        let mut inner = vec![0.0; gate.len()];
        swiglu(gate, up, &mut inner);
        let mut out = vec![0.0; x_mid.len()];
        let low = pass.request(self.ids[6], Direction::Forward, &inner, &mut out, || {
            group.as_ref().map_or_else(Vec::new, |g| g.down(&inner, tokens, key))
        })?;
        adapt(&group, 0, &low, tokens, &mut out);
        add(&mut out, x_mid);
        Ok((out, low))
    }
}

fn adapt(group: &Option<LoraGroup<'_>>, slot: usize, low: &[f32], rows: usize, y: &mut [f32]) {
    if let Some(group) = group {
        group.up(slot, low, rows, y);
    }
}

/// `to += from`.
pub(super) fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}
