//! h += down(SiLU(gate)·up) on the normed residual stream.

use super::ArchitectureError;
use super::adapted::{self, Frozen};
use super::norm::Normed;
use super::pass::Pass;
use crate::nodes::{swiglu, swiglu_backward};
use std::borrow::Cow;

pub(super) struct Mlp {
    /// gate, up.
    pub gate_up: [Frozen; 2],
    pub down: Frozen,
}

/// What the backward pass reads.
pub(super) struct MlpTape {
    /// `gate_proj` output, `[T, intermediate]`.
    pub gate: Vec<f32>,
    /// `up_proj` output, `[T, intermediate]`.
    pub up: Vec<f32>,
    /// `A·x` of the adapters on gate and up.
    low_gate_up: Vec<f32>,
    /// `A·x` of the adapter on down; empty until [`Mlp::finish`] ran.
    pub low_down: Vec<f32>,
}

impl MlpTape {
    fn inner(&self) -> Vec<f32> {
        let mut inner = vec![0.0; self.gate.len()];
        swiglu(&self.gate, &self.up, &mut inner);
        inner
    }
}

impl Mlp {
    /// Up to the inner values.
    pub fn begin(&self, pass: &mut Pass<'_>, input: Normed<'_>) -> Result<MlpTape, ArchitectureError> {
        let (mut outputs, low_gate_up) = adapted::forward(pass, &self.gate_up, &input.rows(), |_, _| ())?;
        let up = outputs.pop().unwrap_or_default();
        let gate = outputs.pop().unwrap_or_default();
        Ok(MlpTape { gate, up, low_gate_up, low_down: Vec::new() })
    }

    /// SwiGLU, down and the residual `x_mid`: (layer output, A·x of the adapter on down).
    pub fn finish(
        &self,
        pass: &mut Pass<'_>,
        tape: &MlpTape,
        x_mid: &[f32],
    ) -> Result<(Vec<f32>, Vec<f32>), ArchitectureError> {
        adapted::forward_residual(pass, &self.down, &tape.inner(), x_mid)
    }

    /// Gradient of the normed input from that of the layer's output, empty if it is not `wanted`.
    pub fn backward(
        &self,
        pass: &mut Pass<'_>,
        input: Normed<'_>,
        mut tape: MlpTape,
        dx: &[f32],
        wanted: bool,
        grads: &mut [f32],
    ) -> Result<Vec<f32>, ArchitectureError> {
        let inner_wanted = wanted || adapted::group(&self.gate_up, pass).is_some();
        let low_down = std::mem::take(&mut tape.low_down);
        let inner = || Cow::Owned(tape.inner());
        let d_inner = adapted::backward_one(pass, &self.down, dx, low_down, inner, inner_wanted, grads)?;
        if !inner_wanted {
            return Ok(Vec::new());
        }
        swiglu_backward(&mut tape.gate, &mut tape.up, &d_inner);
        drop(d_inner);
        let d_outputs = [tape.gate.as_slice(), &tape.up];
        adapted::backward(pass, &self.gate_up, &d_outputs, &tape.low_gate_up, || input.rows(), wanted, grads)
    }
}

#[cfg(test)]
impl MlpTape {
    /// Values held.
    pub fn values(&self) -> usize {
        [&self.gate, &self.up, &self.low_gate_up, &self.low_down].iter().map(|part| part.len()).sum()
    }
}
