//! Loops, windows and stages of a kernel whose names are all known.

use proc_macro2::Ident;

use super::{Placed, View};
use crate::{
    report::Report,
    tree::{Candidates, Loop, OperandRole, Statement, StepKind, Tunable, Unpack, Window, WindowLayout},
};

/// Edge of an HMX tile.
const TILE: u32 = 32;

pub(super) fn check(view: &View<'_>, report: &mut Report) {
    for window in &view.kernel.windows {
        self::window(view, window, report);
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

/// What is wrong with the candidates of a tunable.
fn no_tile(tunable: &Tunable) -> Option<String> {
    let step = tunable.multiple_of;
    if step == 0 || !step.is_multiple_of(TILE) {
        return Some(format!(
            "steps by `multiple_of {step}`, HMX takes tiles of {TILE}: write `multiple_of {}`",
            step.max(1).next_multiple_of(TILE)
        ));
    }
    match &tunable.candidates {
        Candidates::List(values) if values.is_empty() => Some(format!("has no candidate: add a multiple of {step}")),
        Candidates::List(values) => {
            let bad = values.iter().find(|&&value| value == 0 || value % step != 0)?;
            let way_out = bad.max(&1).checked_next_multiple_of(step).map_or(step, |next| next);
            Some(format!("cannot be {bad}: a tile is a positive multiple of {step}; take {way_out}"))
        }
        Candidates::Range(min, max) => {
            let first = u64::from((*min).max(1)).next_multiple_of(u64::from(step));
            let none =
                format!("has no candidate in {min}..={max}: the first multiple of {step} from there on is {first}");
            (first > u64::from(*max)).then_some(none)
        }
    }
}

fn window(view: &View<'_>, window: &Window, report: &mut Report) {
    let name = &window.name;
    let readers: Vec<_> = view.steps.iter().enumerate().filter(|(_, p)| p.step.kind.reads().contains(&name)).collect();
    let mut writers = view.steps.iter().filter(|p| p.step.kind.writes() == Some(name));
    if readers.is_empty() {
        report.error(
            name.span(),
            format!("window `{name}` is never read: use it in a later step, or remove it and the step that fills it"),
        );
    }
    let Some((written_at, filled)) = view.writer(name) else {
        report.error(
            name.span(),
            format!(
                "window `{name}` is never written: fill it by a load, a pack, a conversion or a multiply, or remove it"
            ),
        );
        return;
    };
    if let Some(second) = writers.nth(1) {
        report.error(
            second.step.keyword.span(),
            format!("window `{name}` is filled by another step already: give each step its own window"),
        );
    }
    let Some(axes) = view.axes(window) else {
        return;
    };
    for axis in axes {
        let Some(own) = filled.loop_over(axis) else {
            report.error(
                filled.step.keyword.span(),
                format!(
                    "`{}` fills window `{name}` outside the loops over axis `{axis}`: move the step into the loop",
                    filled.step.keyword
                ),
            );
            continue;
        };
        for (position, read) in &readers {
            if *position > written_at && !read.loop_over(axis).is_some_and(|l| std::ptr::eq(l, own)) {
                report.error(
                    read.step.keyword.span(),
                    format!(
                        "`{0}` reads window `{name}` outside loop `{1}`, which fills it: only the last block is left; move it into `{1}`",
                        read.step.keyword, own.variable
                    ),
                );
            }
        }
    }
    for (position, read) in &readers {
        if *position < written_at {
            report.error(
                read.step.keyword.span(),
                format!(
                    "`{}` reads window `{name}` before it is written: move it behind `{}`",
                    read.step.keyword, filled.step.keyword
                ),
            );
        }
    }
    if window.stages > 1 && rotations(view, name) == 0 {
        let way_out = if matches!(filled.step.kind, StepKind::Load { .. }) {
            "write it on the loop directly around the load, or drop `stages`"
        } else {
            "only loads run ahead, drop `stages`"
        };
        report.error(
            window.stages_span,
            format!(
                "window `{name}` has {} stages, but no loop says `pipeline({name})`: they would have no effect; {way_out}",
                window.stages
            ),
        );
    }
}

fn rotations(view: &View<'_>, window: &Ident) -> usize {
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

fn loops<'k>(view: &View<'k>, body: &'k [Statement], around: &mut Vec<&'k Loop>, report: &mut Report) {
    for statement in body {
        let Statement::Loop(l) = statement else {
            continue;
        };
        if around.iter().any(|outer| outer.axis == l.axis) {
            report.error(l.axis.span(), format!("a loop around this one walks axis `{}` already: blocks would be visited twice; one loop walks an axis", l.axis));
        }
        if view.axis_of.get(&l.tile.to_string()).is_some_and(|axis| **axis != l.axis) {
            report.error(
                l.tile.span(),
                format!("tunable `{}` already tiles another axis: each axis has a tunable of its own", l.tile),
            );
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

/// The output is written once per block, and sums every block of the contraction.
fn unpack(view: &View<'_>, placed: &Placed<'_>, report: &mut Report) {
    let StepKind::Unpack(Unpack { to, from, .. }) = &placed.step.kind else {
        return;
    };
    let span = placed.step.keyword.span();
    let Some(operand) = view.operand(&to.operand) else {
        return;
    };
    if operand.role != OperandRole::Output {
        return;
    }
    let first = view
        .steps
        .iter()
        .find(|p| matches!(&p.step.kind, StepKind::Unpack(Unpack { to: t, .. }) if t.operand == to.operand));
    if first.is_some_and(|first| !std::ptr::eq(first.step, placed.step)) {
        report.error(
            span,
            format!(
                "output `{}` is written by another step already: a second one would store over it or add twice",
                operand.name
            ),
        );
    }
    let Some((_, multiply)) = view.writer(from) else {
        return;
    };
    let StepKind::Multiply { data, .. } = &multiply.step.kind else {
        return;
    };
    let Some([_, sums]) =
        view.window(data).filter(|w| w.layout != WindowLayout::OutputTiles).and_then(|w| view.axes(w))
    else {
        return;
    };
    for l in &placed.loops {
        if !operand.axes.contains(&l.axis) && l.axis != *sums {
            report.error(
                span,
                format!(
                    "`{0}` is written again in every round of loop `{1}`: move the step out of `{1}`",
                    operand.name, l.variable
                ),
            );
        }
    }
    let around = placed.loop_over(sums);
    if around.is_none() {
        report.error(
            span,
            format!(
                "`+=` sums over axis `{sums}`, but no loop over it is around this step: move the step into that loop"
            ),
        );
    }
    let inner = multiply.loop_over(sums);
    if inner.is_some_and(|inner| !around.is_some_and(|l| std::ptr::eq(l, inner))) {
        report.error(span, format!("partial sums over axis `{sums}` are overwritten before this step takes them: move it into the loop that multiplies"));
    }
}
