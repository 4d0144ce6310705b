//! Loops, windows and stages of a kernel whose names are all known.

mod candidates;
mod loops;
mod unpack;
mod window;

use super::{Placed, View};
use crate::{report::Report, tree::OperandRole};

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
        if !used {
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
        if scheduled && !view.axis_of.values().any(|walked| *walked == name) {
            report.error(
                name.span(),
                format!("no loop walks axis `{name}`: add `for … in tiles({name}, TILE)` around the steps that use it"),
            );
        }
    }
    for tunable in &view.kernel.tunables {
        if !view.axis_of.contains_key(&tunable.name.to_string()) {
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
    if let Some(schedule) = &view.kernel.schedule {
        loops(view, schedule, &mut Vec::new(), report);
    }
    for placed in &view.steps {
        unpack(view, placed, report);
    }
}
