//! Row scale and its inverse, the overflow guard, and sums over the contraction.

use super::View;
use crate::{
    report::Report,
    rules::limits::GUARD,
    tree::{AxisRole, StepKind, Unpack},
};

pub(super) fn check(view: &View<'_>, report: &mut Report) {
    for placed in &view.steps {
        let keyword = &placed.step.keyword;
        let directive = match &placed.step.kind {
            StepKind::Pack { scale: true, from, .. } => Some(("scale", from)),
            StepKind::Unpack(Unpack { unscale: true, to, .. }) => Some(("unscale", to)),
            _ => None,
        };
        if let Some((name, block)) = directive {
            let rows = view.operand(&block.operand).map(|o| &o.axes[0]);
            let role = rows.and_then(|r| view.kernel.axes.iter().find(|a| a.name == *r)).map(|a| a.role);
            if role.is_some_and(|role| role != AxisRole::Token) {
                report.error(
                    block.operand.span(),
                    format!("`{name}(row)` needs token rows, only they carry an exponent: drop it, or take an operand whose rows are tokens"),
                );
            }
        }
        let StepKind::Unpack(Unpack { from, unscale, guard, .. }) = &placed.step.kind else {
            continue;
        };
        match guard {
            None => report.error(
                keyword.span(),
                format!("`{keyword}` has no guard: partial sums leave HMX as FP16 and may overflow unseen; add `guard({GUARD})`"),
            ),
            Some(limit) if *limit != GUARD => report.error(
                keyword.span(),
                format!("the guard's limit is {limit}, the device layer flags rows from {GUARD}: write `guard({GUARD})`"),
            ),
            Some(_) => {}
        }
        scale_pair(view, from, *unscale, keyword.span(), report);
    }
}

/// What the rows were multiplied by on the way in must be undone on the way out.
fn scale_pair(view: &View<'_>, from: &syn::Ident, unscale: bool, span: proc_macro2::Span, report: &mut Report) {
    let Some((_, multiply)) = view.writer(from) else {
        return;
    };
    let StepKind::Multiply { data, .. } = &multiply.step.kind else {
        return;
    };
    let Some(pack) = view.first_writer(data) else {
        return;
    };
    let StepKind::Pack { scale, .. } = &pack.step.kind else {
        return;
    };
    match (scale, unscale) {
        (true, false) => report.error(span, "the rows were scaled by `scale(row)` when packed: add `unscale(row)`"),
        (false, true) => {
            report.error(
                span,
                "`unscale(row)` without `scale(row)` on the step that packs the rows: add it there, or drop this one",
            );
        }
        _ => {}
    }
}
