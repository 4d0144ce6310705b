//! The library kernel of every (direction, precision), verified once.

use kernel_gen::ir::{AxisRole, Kernel, Statement};
use kernel_gen::{Plan, Verified, library};

use crate::{Direction, Precision, RuntimeError};

pub(crate) struct Kernels {
    forward_f16: Verified,
    input_grad_f16: Verified,
    forward_q8: Verified,
    input_grad_q8: Verified,
}

impl Kernels {
    pub fn verify() -> Result<Kernels, RuntimeError> {
        Ok(Kernels {
            forward_f16: verify(library::forward_f16())?,
            input_grad_f16: verify(library::input_grad_f16())?,
            forward_q8: verify(library::forward_q8())?,
            input_grad_q8: verify(library::input_grad_q8())?,
        })
    }

    /// `None` for f32, which no kernel reads.
    pub fn of(&self, direction: Direction, precision: Precision) -> Option<&Verified> {
        match (direction, precision) {
            (_, Precision::F32) => None,
            (Direction::Forward, Precision::F16) => Some(&self.forward_f16),
            (Direction::InputGrad, Precision::F16) => Some(&self.input_grad_f16),
            (Direction::Forward, Precision::Q8) => Some(&self.forward_q8),
            (Direction::InputGrad, Precision::Q8) => Some(&self.input_grad_q8),
        }
    }
}

fn verify(kernel: Kernel) -> Result<Verified, RuntimeError> {
    kernel_gen::verify(&kernel).map_err(|diagnostics| RuntimeError::Kernel {
        kernel: kernel.name.clone(),
        diagnostics: diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    })
}

/// Length of the contraction that one FP16 partial sum covers under `plan`.
pub(crate) fn partial_length(kernel: &Kernel, direction: Direction, plan: &Plan) -> usize {
    let role = match direction {
        Direction::Forward => AxisRole::In,
        Direction::InputGrad => AxisRole::Out,
    };
    let axis = kernel.axes.iter().position(|axis| axis.role == role);
    let tile = axis.and_then(|axis| tile_of(&kernel.schedule, axis)).and_then(|tile| plan.tunables.get(tile));
    tile.map_or(usize::MAX, |tunable| tunable.value as usize)
}

fn tile_of(body: &[Statement], axis: usize) -> Option<usize> {
    body.iter().find_map(|statement| match statement {
        Statement::Loop(inner) if inner.axis.0 == axis => Some(inner.tile.0),
        Statement::Loop(inner) => tile_of(&inner.body, axis),
        Statement::Step(_) => None,
    })
}
