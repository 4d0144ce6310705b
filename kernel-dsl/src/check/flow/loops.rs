//! Loops and the loads that run ahead in them.

use proc_macro2::Ident;

use super::View;
use crate::{
    report::Report,
    tree::{Loop, Statement, StepKind},
};

pub(super) fn rotations(view: &View<'_>, window: &Ident) -> usize {
    fn count(body: &[Statement], window: &Ident) -> usize {
        body.iter()
            .map(|statement| match statement {
                Statement::Loop(l) => l.pipeline.iter().filter(|w| *w == window).count() + count(&l.body, window),
                Statement::Step(_) => 0,
            })
            .sum()
    }
    view.kernel.schedule.as_deref().map_or(0, |schedule| count(schedule, window))
}

pub(super) fn loops<'k>(view: &View<'k>, body: &'k [Statement], around: &mut Vec<&'k Loop>, report: &mut Report) {
    for statement in body {
        let Statement::Loop(l) = statement else {
            continue;
        };
        if around.iter().any(|outer| outer.axis == l.axis) {
            report.error(l.axis.span(), format!("a loop around this one walks axis `{}` already: blocks would be visited twice; one loop walks an axis", l.axis));
        }
        for window in &l.pipeline {
            pipelined(view, l, window, report);
        }
        around.push(l);
        loops(view, &l.body, around, report);
        around.pop();
    }
}

fn pipelined(view: &View<'_>, l: &Loop, window: &Ident, report: &mut Report) {
    if rotations(view, window) > 1 {
        report.error(window.span(), format!("window `{window}` is pipelined twice: name it in one `pipeline(…)`"));
    }
    let Some(declared) = view.window(window) else {
        return;
    };
    if declared.stages == 1 {
        report.error(
            window.span(),
            format!(
                "window `{window}` has 1 stage: the next load would overwrite the block being worked on; declare it with \
                 `stages 2`"
            ),
        );
    }
    let own = l.body.iter().find_map(|statement| match statement {
        Statement::Step(step) => match &step.kind {
            StepKind::Load { to, from } if to == window => Some(from),
            _ => None,
        },
        Statement::Loop(_) => None,
    });
    match own {
        None => report.error(
            window.span(),
            format!("`pipeline({window})` has no effect: loop `{}` does not itself load `{window}`; put the load directly into it", l.variable),
        ),
        Some(block) if !block.variables.contains(&l.variable) => report.error(
            window.span(),
            format!(
                "the load of `{window}` does not move with `{}`: every stage would hold the same block; load it in the loop outside, \
                 without `pipeline`",
                l.variable
            ),
        ),
        Some(_) => {}
    }
}
