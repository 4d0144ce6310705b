//! Loops, windows and stages of a kernel whose names are all known.

mod candidates;
mod loops;
mod unpack;
mod window;

use super::{Placed, View};
use crate::{
    report::Report,
    tree::{OperandRole, StepKind},
};

use self::{candidates::no_tile, loops::loops, unpack::unpack};

pub(super) fn check(view: &View<'_>, report: &mut Report) {
    for window in &view.kernel.windows {
        window::window(view, window, report);
    }
    for operand in &view.kernel.operands {
        let used = view.steps.iter().any(|p| {
            let block = p.step.kind.block().map(|b| &b.operand);
            block.into_iter().chain(p.step.kind.vectors()).any(|name| *name == operand.name)
        });
        if !used && !meant_elsewhere(view, operand.role) {
            let name = &operand.name;
            let way_out = match operand.role {
                OperandRole::Activation => "pack it".into(),
                OperandRole::Weight => "load it".into(),
                OperandRole::Output => "unpack into it".into(),
                OperandRole::Column => format!("write `column_bias({name})` or `column_scale({name})` on the unpack"),
            };
            report.error(name.span(), format!("operand `{name}` is not used by any step: {way_out}, or remove it"));
        }
    }
    let mut outputs = view.kernel.operands.iter().filter(|operand| operand.role == OperandRole::Output);
    if let Some(first) = outputs.next() {
        for second in outputs {
            report.error(
                second.name.span(),
                format!(
                    "`{}` is a second output beside `{}`: a kernel has one output, which its reference is for; write a kernel for each",
                    second.name, first.name
                ),
            );
        }
    }
    let scheduled = !view.steps.is_empty();
    for axis in &view.kernel.axes {
        let name = &axis.name;
        if scheduled && !view.tiles.walked.contains(&name) {
            report.error(
                name.span(),
                format!("no loop walks axis `{name}`: add `for … in tiles({name}, TILE)` around the steps that use it"),
            );
        }
    }
    for tunable in &view.kernel.tunables {
        if !view.tiles.tiles(&tunable.name) {
            report.error(
                tunable.name.span(),
                format!(
                    "tunable `{0}` is the tile of no loop: use it in `tiles(AXIS, {0})`, or remove it",
                    tunable.name
                ),
            );
        }
        if let Some(message) = no_tile(tunable) {
            report.error(tunable.candidates_span, format!("tunable `{}` {message}", tunable.name));
        }
    }
    for wrong in &view.tiles.wrong {
        report.error(wrong.span, &wrong.message);
    }
    if let Some(schedule) = &view.kernel.schedule {
        loops(view, schedule, &mut Vec::new(), report);
    }
    for placed in &view.steps {
        unpack(view, placed, report);
    }
}

/// Whether a step takes an operand of another role where one of this belongs: that step has the error.
fn meant_elsewhere(view: &View<'_>, role: OperandRole) -> bool {
    view.steps.iter().any(|placed| {
        let (block, wanted) = match &placed.step.kind {
            StepKind::Load { from, .. } => (from, OperandRole::Weight),
            StepKind::Pack { from, .. } => (from, OperandRole::Activation),
            StepKind::Unpack(unpack) => (&unpack.to, OperandRole::Output),
            _ => return false,
        };
        wanted == role && view.operand(&block.operand).is_some_and(|operand| operand.role != role)
    })
}
