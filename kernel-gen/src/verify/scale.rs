//! Row scale, its inverse, and the overflow guard.

use super::{Diagnostic, Rule, view::View};
use crate::{
    ir::{AxisId, Source, StepKind, WindowId},
    rules::limits::GUARD,
};

pub(super) fn check(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for placed in &view.steps {
        let source = placed.step.source;
        match placed.step.kind {
            StepKind::PackRows { block, scale: true, .. } | StepKind::PackCols { block, scale: true, .. } => {
                token_rows(view, "scale", block, source, found);
            }
            StepKind::UnpackRows { block, window, unscale, guard, .. }
            | StepKind::UnpackCols { block, window, unscale, guard, .. } => {
                if unscale {
                    token_rows(view, "unscale", block, source, found);
                }
                pair(view, window, unscale, source, found);
                overflow(guard, source, found);
            }
            _ => {}
        }
    }
}

fn token_rows(view: &View<'_>, directive: &str, block: [AxisId; 2], source: Source, found: &mut Vec<Diagnostic>) {
    if block[0] != view.facts.token {
        found.push(Diagnostic::new(
            Rule::Scale,
            source,
            format!("`{directive}(row)` needs token rows, these are rows of axis `{}`", view.axis_name(block[0])),
            format!("only rows of axis `{}` carry an exponent", view.axis_name(view.facts.token)),
        ));
    }
}

/// The scale on the way in must be undone on the way out, exactly once.
fn pair(view: &View<'_>, window: WindowId, unscale: bool, source: Source, found: &mut Vec<Diagnostic>) {
    let Some(StepKind::Multiply { data, weights, .. }) = view.writer(window).map(|p| &p.step.kind) else {
        return;
    };
    let scaled = |window: WindowId| {
        view.first_writer(window).filter(|p| {
            matches!(p.step.kind, StepKind::PackRows { scale: true, .. } | StepKind::PackCols { scale: true, .. })
        })
    };
    match (scaled(*data), unscale) {
        (Some(pack), false) => found.push(Diagnostic::new(
            Rule::Scale,
            source,
            format!("the rows were scaled at {}, but their inverse is missing here", pack.step.source),
            "add `unscale(row)`",
        )),
        (None, true) => found.push(Diagnostic::new(
            Rule::Scale,
            source,
            "`unscale(row)` without `scale(row)`: rows would come out divided by 2^e",
            "add `scale(row)` to the step that packs the rows, or drop `unscale(row)`",
        )),
        _ => {}
    }
    if let Some(pack) = scaled(*weights) {
        found.push(Diagnostic::new(
            Rule::Scale,
            pack.step.source,
            "both operands of a multiply would be scaled by row exponents",
            "scale token rows only: the inverse is applied once",
        ));
    }
}

fn overflow(guard: Option<u32>, source: Source, found: &mut Vec<Diagnostic>) {
    match guard {
        Some(GUARD) => {}
        Some(other) => found.push(Diagnostic::new(
            Rule::Guard,
            source,
            format!("the guard's limit is {other}; the device layer flags rows from {GUARD}"),
            format!("write `guard({GUARD})`"),
        )),
        None => found.push(Diagnostic::new(
            Rule::Guard,
            source,
            "partial sums leave HMX as FP16 and may overflow unseen",
            format!("add `guard({GUARD})`: rows that reach it are flagged and sent again with a smaller scale"),
        )),
    }
}
