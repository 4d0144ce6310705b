//! Windows: filled once, before they are read, and read while they hold their block.

use super::{View, loops::rotations};
use crate::{
    report::Report,
    tree::{StepKind, Window},
};

pub(super) fn window(view: &View<'_>, window: &Window, report: &mut Report) {
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
