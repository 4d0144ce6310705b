//! Software pipelining: a stage is never loaded into while its block is still needed.
//!
//! With S stages the load of block b + S − 1 is issued when the work on block b begins. Its stage is that of block b − 1,
//! whose last reader has run, because every reader of the window is inside the pipelined loop.

use super::{Diagnostic, Rule, view::View};
use crate::ir::{Loop, Statement, StepKind, WindowId};

pub(super) fn check(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let mut rotated = Vec::new();
    loops(view, &view.kernel.schedule, &mut rotated, found);
    for (index, window) in view.kernel.windows.iter().enumerate() {
        if window.stages > 1 && !rotated.contains(&WindowId(index)) {
            found.push(Diagnostic::new(
                Rule::Pipeline,
                window.source,
                format!("window `{}` has {} stages, but no loop rotates through them", window.name, window.stages),
                format!("add `pipeline({})` to the loop around its load, or drop `stages`", window.name),
            ));
        }
    }
}

fn loops(view: &View<'_>, body: &[Statement], rotated: &mut Vec<WindowId>, found: &mut Vec<Diagnostic>) {
    for statement in body {
        let Statement::Loop(l) = statement else {
            continue;
        };
        for &window in &l.pipeline {
            if rotated.contains(&window) {
                found.push(Diagnostic::new(
                    Rule::Pipeline,
                    l.source,
                    format!("window `{}` is pipelined twice", view.window_name(window)),
                    "name it in one `pipeline(…)`",
                ));
            } else {
                rotated.push(window);
                pipelined(view, l, window, found);
            }
        }
        loops(view, &l.body, rotated, found);
    }
}

fn pipelined(view: &View<'_>, l: &Loop, window: WindowId, found: &mut Vec<Diagnostic>) {
    let declared = &view.kernel.windows[window.0];
    let mut error = |message: String, help: &str| {
        found.push(Diagnostic::new(Rule::Pipeline, l.source, message, help));
    };
    if declared.stages < 2 {
        error(
            format!(
                "window `{}` has {} stage: the load of the next block would overwrite the block being worked on",
                declared.name, declared.stages
            ),
            "declare the window with `stages 2`",
        );
    }
    let own_load = l.body.iter().find_map(|statement| match statement {
        Statement::Step(step) => match step.kind {
            StepKind::Load { window: w, block, .. } if w == window => Some(block),
            _ => None,
        },
        Statement::Loop(_) => None,
    });
    match own_load {
        None => error(
            format!("loop `{}` does not itself load window `{}`", l.name, declared.name),
            "put the `load` of a pipelined window directly into the pipelined loop",
        ),
        Some(block) if !block.contains(&l.axis) => error(
            format!(
                "the load of window `{}` does not move along axis `{}`: every stage would hold the same block",
                declared.name,
                view.axis_name(l.axis)
            ),
            "load the window in the outer loop, without `pipeline`",
        ),
        Some(_) => {}
    }
}
