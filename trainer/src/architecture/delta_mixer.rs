//! h += out(delta_net(qkv, z, b, a)) on the normed residual stream: a Gated DeltaNet layer's mixer.

use super::ArchitectureError;
use super::adapted::{self, Frozen};
use super::cache::Step;
use super::norm::Normed;
use super::pass::Pass;
use crate::nodes::{DeltaGrads, DeltaInput, DeltaShape, DeltaWeights, delta_net_backward, delta_net_forward};
use std::borrow::Cow;

pub(super) struct DeltaMixer {
    pub shape: DeltaShape,
    /// in_proj_qkv, in_proj_z, in_proj_b, in_proj_a.
    pub inputs: [Frozen; 4],
    pub out: Frozen,
    pub weights: DeltaWeights,
}

/// What the backward pass reads.
pub(super) struct DeltaTape {
    /// Outputs of the four input projections.
    rows: Vec<Vec<f32>>,
    /// Output of the node, the input of `out_proj`.
    mixed: Vec<f32>,
    low_in: Vec<f32>,
    low_out: Vec<f32>,
}

fn node_input(rows: &[Vec<f32>]) -> DeltaInput<'_> {
    DeltaInput { u: &rows[0], z: &rows[1], b: &rows[2], a: &rows[3] }
}

impl DeltaMixer {
    /// Residual stream after the mixer.
    pub fn forward(&self, pass: &mut Pass<'_>, input: Normed<'_>) -> Result<(Vec<f32>, DeltaTape), ArchitectureError> {
        let (rows, low_in) = adapted::forward(pass, &self.inputs, &input.rows(), |_, _| ())?;
        let mut mixed = vec![0.0; rows[1].len()];
        delta_net_forward(self.shape, &self.weights, node_input(&rows), &pass.spans, &mut mixed);
        let (x_mid, low_out) = adapted::forward_residual(pass, &self.out, &mixed, input.x)?;
        Ok((x_mid, DeltaTape { rows, mixed, low_in, low_out }))
    }

    /// As [`DeltaMixer::forward`] for new tokens that go on from states the cache holds.
    pub fn infer(
        &self,
        pass: &mut Pass<'_>,
        input: Normed<'_>,
        layer: usize,
        step: &mut Step<'_>,
    ) -> Result<Vec<f32>, ArchitectureError> {
        let (rows, _) = adapted::forward(pass, &self.inputs, &input.rows(), |_, _| ())?;
        let mixed = step.recur(layer, self.shape, &self.weights, node_input(&rows), &pass.spans);
        Ok(adapted::forward_residual(pass, &self.out, &mixed, input.x)?.0)
    }

    /// Gradient of the normed input from that of the stream after the mixer, empty if it is not `wanted`.
    pub fn backward(
        &self,
        pass: &mut Pass<'_>,
        input: Normed<'_>,
        tape: DeltaTape,
        dx: &[f32],
        wanted: bool,
        grads: &mut [f32],
    ) -> Result<Vec<f32>, ArchitectureError> {
        let below = wanted || adapted::group(&self.inputs, pass).is_some();
        let DeltaTape { rows, mixed, low_in, low_out } = tape;
        let d_mixed = adapted::backward_one(pass, &self.out, dx, low_out, || Cow::Owned(mixed), below, grads)?;
        if !below {
            return Ok(Vec::new());
        }
        let mut d_rows: Vec<Vec<f32>> = rows.iter().map(|rows| vec![0.0; rows.len()]).collect();
        if let [u, z, b, a] = d_rows.as_mut_slice() {
            let node_grads = DeltaGrads { u, z, b, a };
            delta_net_backward(self.shape, &self.weights, node_input(&rows), &pass.spans, &d_mixed, node_grads);
        }
        let d_outputs: Vec<&[f32]> = d_rows.iter().map(Vec::as_slice).collect();
        adapted::backward(pass, &self.inputs, &d_outputs, &low_in, || input.rows(), wanted, grads)
    }
}

#[cfg(test)]
impl DeltaTape {
    /// Values held.
    pub fn values(&self) -> usize {
        self.rows.iter().chain([&self.mixed, &self.low_in, &self.low_out]).map(Vec::len).sum()
    }
}
