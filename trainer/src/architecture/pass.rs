//! One pass over a micro-batch: the runtime it asks, the adapter it applies, the tokens it packs.

use super::ArchitectureError;
use crate::adapter::Adapter;
use crate::nodes::{DropoutKey, Rotation};
use hexagon_runtime::{Direction, ProjectionId, Runtime};
use std::ops::Range;
use std::sync::Arc;

pub(super) struct Pass<'a> {
    pub runtime: &'a mut Runtime,
    pub adapter: Option<&'a Adapter>,
    /// Dropout acts in training only.
    pub training: bool,
    pub overlap: bool,
    pub dropout: DropoutKey,
    /// Packed tokens.
    pub tokens: usize,
    /// Where each sequence lies among them.
    pub spans: Vec<Range<usize>>,
    pub rotation: Arc<Rotation>,
}

impl Pass<'_> {
    /// Asks for a frozen product into `out` and does `cpu` meanwhile, or after it without overlap.
    /// `cpu` cannot touch what the request reads or writes, so the order changes no bit.
    pub fn request<R>(
        &mut self,
        id: ProjectionId,
        direction: Direction,
        input: &[f32],
        out: &mut [f32],
        cpu: impl FnOnce() -> R,
    ) -> Result<R, ArchitectureError> {
        let ticket = self.runtime.submit(id, direction, input, self.tokens)?;
        if self.overlap {
            let done = cpu();
            ticket.wait(out)?;
            Ok(done)
        } else {
            ticket.wait(out)?;
            Ok(cpu())
        }
    }

    /// The gradient of a projection's input, `width` wide, with `cpu` as in [`Pass::request`]; only
    /// `cpu` and no gradient if it is not `wanted`.
    pub fn input_grad<R>(
        &mut self,
        wanted: bool,
        id: ProjectionId,
        grad: &[f32],
        width: usize,
        cpu: impl FnOnce() -> R,
    ) -> Result<(Vec<f32>, R), ArchitectureError> {
        if !wanted {
            return Ok((Vec::new(), cpu()));
        }
        let mut out = vec![0.0; self.tokens * width];
        let done = self.request(id, Direction::InputGrad, grad, &mut out, cpu)?;
        Ok((out, done))
    }
}
