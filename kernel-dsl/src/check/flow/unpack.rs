//! Partial sums: all of them, each once.

use super::{Placed, View};
use crate::{
    report::Report,
    tree::{OperandRole, StepKind, Unpack, WindowLayout},
};

/// The output is written once per block, and sums every block of the contraction.
pub(super) fn unpack(view: &View<'_>, placed: &Placed<'_>, report: &mut Report) {
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
