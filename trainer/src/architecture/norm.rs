//! An RMSNorm and its frozen weight.

use crate::nodes::{HeadNorm, rms_norm, rms_norm_backward};

pub(super) struct Norm {
    /// As it multiplies: 1 + w for models that store w around 0.
    pub weight: Vec<f32>,
    pub eps: f32,
}

impl Norm {
    pub fn apply(&self, x: &[f32]) -> Vec<f32> {
        let mut normed = vec![0.0; x.len()];
        rms_norm(x, &self.weight, self.eps, &mut normed);
        normed
    }

    /// Adds the gradient of `x` to `dx`.
    pub fn backward(&self, x: &[f32], d_normed: &[f32], dx: &mut [f32]) {
        rms_norm_backward(x, &self.weight, self.eps, d_normed, dx);
    }

    pub fn head(&self) -> HeadNorm<'_> {
        HeadNorm { weight: &self.weight, eps: self.eps }
    }
}

/// What a mixer or MLP reads: the residual stream, to be normed. The normed rows are computed where they are needed,
/// because keeping them costs more than a pass over the stream.
#[derive(Clone, Copy)]
pub(super) struct Normed<'a> {
    pub norm: &'a Norm,
    pub x: &'a [f32],
}

impl Normed<'_> {
    pub fn rows(&self) -> Vec<f32> {
        self.norm.apply(self.x)
    }
}
