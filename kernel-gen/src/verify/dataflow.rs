//! Every window is filled once per block, before it is read, and is still that block's when it is read.

use super::{Diagnostic, Rule, placed::Placed, view::View};
use crate::ir::WindowId;

pub(super) fn check(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for index in 0..view.kernel.windows.len() {
        window(view, WindowId(index), found);
    }
    for (index, operand) in view.kernel.operands.iter().enumerate() {
        let used = view.steps.iter().any(|p| {
            let block = p.step.kind.operand().map(|(o, _)| o);
            block.into_iter().chain(p.step.kind.vectors()).any(|o| o.0 == index)
        });
        if !used {
            found.push(Diagnostic::new(
                Rule::Dataflow,
                operand.source,
                format!("operand `{}` is not used by any step", operand.name),
                "load, pack or unpack it, or remove it",
            ));
        }
    }
}

fn window(view: &View<'_>, window: WindowId, found: &mut Vec<Diagnostic>) {
    let declared = &view.kernel.windows[window.0];
    let (writers, readers) = (view.writers(window), view.readers(window));
    if writers.is_empty() {
        found.push(Diagnostic::new(
            Rule::Dataflow,
            declared.source,
            format!("window `{}` is never written", declared.name),
            "fill it with a load, pack, conversion or multiply, or remove it",
        ));
    }
    if readers.is_empty() {
        found.push(Diagnostic::new(
            Rule::Dataflow,
            declared.source,
            format!("window `{}` is never read", declared.name),
            "use it in a later step, or remove it and the step that fills it",
        ));
    }
    for &second in writers.iter().skip(1) {
        let step = &view.steps[second].step;
        found.push(Diagnostic::new(
            Rule::Dataflow,
            step.source,
            format!("`{}` overwrites window `{}`, which another step fills", step.kind.keyword(), declared.name),
            "give each step its own window",
        ));
    }
    let ([writer], Some(axes)) = (writers.as_slice(), view.axes(window)) else {
        return;
    };
    let filled = &view.steps[*writer];
    for axis in axes {
        if filled.loop_over(axis).is_none() {
            found.push(Diagnostic::new(
                Rule::Loops,
                filled.step.source,
                format!(
                    "`{}` fills window `{}` outside the loops over axis `{}`",
                    filled.step.kind.keyword(),
                    declared.name,
                    view.axis_name(axis)
                ),
                "move the step into the loop, or the loop around the step",
            ));
        }
    }
    for &reader in &readers {
        let read = &view.steps[reader];
        if reader < *writer {
            found.push(Diagnostic::new(
                Rule::Dataflow,
                read.step.source,
                format!("`{}` reads window `{}` before it is written", read.step.kind.keyword(), declared.name),
                format!("move it behind {}", filled.step.source),
            ));
            continue;
        }
        for axis in axes {
            if filled.loop_over(axis).is_some() && !same_loop(filled, read, axis) {
                found.push(Diagnostic::new(
                    Rule::Dataflow,
                    read.step.source,
                    format!(
                        "`{}` reads window `{}` outside the loop over axis `{}` that fills it: only the last block is left",
                        read.step.kind.keyword(),
                        declared.name,
                        view.axis_name(axis)
                    ),
                    format!("move it into the loop of {}", filled.step.source),
                ));
            }
        }
    }
}

fn same_loop(a: &Placed<'_>, b: &Placed<'_>, axis: crate::ir::AxisId) -> bool {
    match (a.loop_over(axis), b.loop_over(axis)) {
        (Some(a), Some(b)) => std::ptr::eq(a, b),
        _ => false,
    }
}
