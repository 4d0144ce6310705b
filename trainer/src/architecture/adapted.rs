//! Frozen projections with their adapters: while the NPU answers for one, the CPU computes the adapter of another. What
//! the CPU does meanwhile never touches what a request reads or writes, so the order changes no bit.

use super::ArchitectureError;
use super::pass::Pass;
use crate::adapter::{Adapter, ProjectionShape};
use crate::nodes::LoraGroup;
use hexagon_runtime::{Direction, ProjectionId};
use std::borrow::Cow;

/// A projection that the runtime holds.
pub(super) struct Frozen {
    pub id: ProjectionId,
    pub shape: ProjectionShape,
    pub bias: Option<Vec<f32>>,
}

impl Frozen {
    fn add_bias(&self, y: &mut [f32]) {
        if let Some(bias) = &self.bias {
            y.chunks_exact_mut(bias.len()).for_each(|y| add(y, bias));
        }
    }
}

/// The adapters of projections that share an input.
pub(super) fn group<'a>(projections: &[Frozen], pass: &Pass<'a>) -> Option<LoraGroup<'a>> {
    LoraGroup::new(pass.adapter, projections.iter().map(|p| p.shape.name.as_str()), pass.training)
}

/// Whether any of the projections carries an adapter.
pub(super) fn any_adapted(projections: &[Frozen], adapter: &Adapter) -> bool {
    projections.iter().any(|p| adapter.index_of(&p.shape.name).is_some())
}

/// Outputs of projections that share `input`, adapters applied, and A·x of the adapters. `done` is called with each
/// finished output, while the next one is computed.
pub(super) fn forward(
    pass: &mut Pass<'_>,
    projections: &[Frozen],
    input: &[f32],
    mut done: impl FnMut(usize, &[f32]),
) -> Result<(Vec<Vec<f32>>, Vec<f32>), ArchitectureError> {
    let (tokens, key) = (pass.tokens, pass.dropout);
    let group = group(projections, pass);
    let mut low = Vec::new();
    let mut outputs: Vec<Vec<f32>> = Vec::with_capacity(projections.len());
    let mut finish = |slot: usize, low: &[f32], y: &mut Vec<f32>| {
        projections[slot].add_bias(y);
        if let Some(group) = &group {
            group.up(slot, low, tokens, y);
        }
        done(slot, y);
    };
    for (slot, projection) in projections.iter().enumerate() {
        let mut out = vec![0.0; tokens * projection.shape.out];
        pass.request(projection.id, Direction::Forward, input, &mut out, || match outputs.last_mut() {
            None => low = group.as_ref().map_or_else(Vec::new, |g| g.down(input, tokens, key)),
            Some(last) => finish(slot - 1, &low, last),
        })?;
        outputs.push(out);
    }
    if let Some(last) = outputs.last_mut() {
        finish(projections.len() - 1, &low, last);
    }
    Ok((outputs, low))
}

/// `residual` plus the output of one projection, and A·x of its adapter.
pub(super) fn forward_residual(
    pass: &mut Pass<'_>,
    projection: &Frozen,
    input: &[f32],
    residual: &[f32],
) -> Result<(Vec<f32>, Vec<f32>), ArchitectureError> {
    let (mut outputs, low) = forward(pass, std::slice::from_ref(projection), input, |_, _| ())?;
    let mut out = outputs.pop().unwrap_or_default();
    add(&mut out, residual);
    Ok((out, low))
}

/// Backward of [`forward`]: adds the adapters' gradients to `grads` and gives the gradient of the input, the projections'
/// shares in order, then the adapters'; an empty one if it is not `wanted`. `input` gives the input's rows again.
pub(super) fn backward(
    pass: &mut Pass<'_>,
    projections: &[Frozen],
    d_outputs: &[&[f32]],
    low: &[f32],
    input: impl Fn() -> Vec<f32>,
    wanted: bool,
    grads: &mut [f32],
) -> Result<Vec<f32>, ArchitectureError> {
    let (tokens, key) = (pass.tokens, pass.dropout);
    let group = group(projections, pass);
    let mut d_low = group.as_ref().map_or_else(Vec::new, |g| g.low_grads(tokens));
    let mut d_input = Vec::new();
    for (slot, (projection, dy)) in projections.iter().zip(d_outputs).enumerate() {
        let (share, ()) = pass.input_grad(wanted, projection.id, dy, projection.shape.input, || {
            let Some(group) = &group else { return };
            group.up_backward(slot, dy, low, tokens, &mut d_low, grads);
            if slot + 1 == projections.len() {
                group.down_backward(&input(), &d_low, tokens, key, grads);
            }
        })?;
        if slot == 0 {
            d_input = share;
        } else {
            add(&mut d_input, &share);
        }
    }
    if let (true, Some(group)) = (wanted, &group) {
        group.input_backward(&d_low, tokens, key, &mut d_input);
    }
    Ok(d_input)
}

/// Backward of [`forward_residual`] without the residual: as [`backward`] for one projection, whose A·x is computed if
/// `low` is empty because the forward pass did not come so far.
pub(super) fn backward_one<'a>(
    pass: &mut Pass<'_>,
    projection: &Frozen,
    dy: &[f32],
    mut low: Vec<f32>,
    input: impl FnOnce() -> Cow<'a, [f32]>,
    wanted: bool,
    grads: &mut [f32],
) -> Result<Vec<f32>, ArchitectureError> {
    let (tokens, key) = (pass.tokens, pass.dropout);
    let group = group(std::slice::from_ref(projection), pass);
    let (mut d_input, d_low) = pass.input_grad(wanted, projection.id, dy, projection.shape.input, || {
        let group = group.as_ref()?;
        let input = input();
        if low.is_empty() {
            low = group.down(&input, tokens, key);
        }
        let mut d_low = group.low_grads(tokens);
        group.up_backward(0, dy, &low, tokens, &mut d_low, grads);
        group.down_backward(&input, &d_low, tokens, key, grads);
        Some(d_low)
    })?;
    if let (true, Some(group), Some(d_low)) = (wanted, &group, &d_low) {
        group.input_backward(d_low, tokens, key, &mut d_input);
    }
    Ok(d_input)
}

/// `to += from`.
pub(super) fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}
