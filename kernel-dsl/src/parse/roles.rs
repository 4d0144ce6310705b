//! `out` and `in` in a kernel for two directions: whichever axis has this role, by its name.
//!
//! Where an operand is declared they are the axis, in a block the loop over it, in a window the tile of it.

use proc_macro2::Ident;

use crate::tree::{AxisRole, Kernel, Loop, Statement, StepKind, Unpack};

/// Puts names in the place of the two words, and the axes in the order of every other kernel: tokens, out, in.
pub(super) fn name(kernel: &mut Kernel) {
    if kernel.version.direction.is_none() {
        return;
    }
    kernel.axes.sort_by_key(|axis| match axis.role {
        AxisRole::Token => 0,
        AxisRole::Out => 1,
        AxisRole::In => 2,
    });
    let roles = Roles { out: kernel.axis_in(AxisRole::Out).cloned(), inputs: kernel.axis_in(AxisRole::In).cloned() };
    for axis in kernel.operands.iter_mut().flat_map(|operand| &mut operand.axes) {
        roles.axis(axis);
    }
    let mut tiles = Vec::new();
    if let Some(schedule) = &mut kernel.schedule {
        roles.statements(schedule, &mut Vec::new(), &mut tiles);
    }
    for extent in kernel.windows.iter_mut().flat_map(|window| &mut window.extents) {
        let mut axis = extent.clone();
        roles.axis(&mut axis);
        if axis != *extent
            && let Some((_, tile)) = tiles.iter().find(|(walked, _)| *walked == axis)
        {
            *extent = Ident::new(&tile.to_string(), extent.span());
        }
    }
}

struct Roles {
    out: Option<Ident>,
    inputs: Option<Ident>,
}

impl Roles {
    /// The axis a role word stands for, at the place of the word.
    fn axis(&self, word: &mut Ident) {
        let axis = if word == "out" {
            &self.out
        } else if word == "in" {
            &self.inputs
        } else {
            return;
        };
        if let Some(axis) = axis {
            *word = Ident::new(&axis.to_string(), word.span());
        }
    }

    /// `loops` are the variables and axes of the loops around, `tiles` collects axes and their tiles.
    fn statements(&self, body: &mut [Statement], loops: &mut Vec<(Ident, Ident)>, tiles: &mut Vec<(Ident, Ident)>) {
        for statement in body {
            match statement {
                Statement::Loop(Loop { variable, axis, tile, body, .. }) => {
                    self.axis(axis);
                    tiles.push((axis.clone(), tile.clone()));
                    loops.push((variable.clone(), axis.clone()));
                    self.statements(body, loops, tiles);
                    loops.pop();
                }
                Statement::Step(step) => {
                    if let Some(axis) = &mut step.split {
                        self.axis(axis);
                    }
                    match &mut step.kind {
                        StepKind::Load { from: block, .. }
                        | StepKind::Pack { from: block, .. }
                        | StepKind::Unpack(Unpack { to: block, .. }) => {
                            for variable in &mut block.variables {
                                self.variable(variable, loops);
                            }
                        }
                        StepKind::Convert { .. } | StepKind::Multiply { .. } => {}
                    }
                }
            }
        }
    }

    fn variable(&self, word: &mut Ident, loops: &[(Ident, Ident)]) {
        let mut axis = word.clone();
        self.axis(&mut axis);
        if axis != *word
            && let Some((variable, _)) = loops.iter().rev().find(|(_, walked)| *walked == axis)
        {
            *word = Ident::new(&variable.to_string(), word.span());
        }
    }
}
