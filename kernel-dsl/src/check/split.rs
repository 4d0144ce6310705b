//! Worker split: what two workers write must not meet.

use proc_macro2::Ident;

use super::{Placed, View};
use crate::{
    report::Report,
    tree::{StepKind, Unpack},
};

pub(super) fn check(view: &View<'_>, report: &mut Report) {
    for placed in &view.steps {
        if let Some(axis) = placed.step.split.as_ref().filter(|axis| view.declares(axis))
            && let Err(message) = split(view, placed, axis)
        {
            report.error(axis.span(), message);
        }
    }
}

/// A strip is 32 rows and all their columns: only along the rows has every tile, flag and exponent one worker.
fn split(view: &View<'_>, placed: &Placed<'_>, axis: &Ident) -> Result<(), String> {
    let kind = &placed.step.kind;
    let keyword = &placed.step.keyword;
    let (target, axes) = match kind {
        StepKind::Load { .. } => {
            return Err("`load` cannot be split: one thread links all DMA descriptors; split the step that turns the \
                        window into tiles"
                .into());
        }
        StepKind::Multiply { .. } => {
            return Err("`multiply` cannot be split: there is one HMX, and the thread that locked it issues every \
                        packet; split the HVX steps before and after it"
                .into());
        }
        StepKind::Pack { to, from, .. } => {
            (format!("window `{to}`"), view.operand(&from.operand).map(|o| [&o.axes[0], &o.axes[1]]))
        }
        StepKind::Convert { to, from, .. } => {
            (format!("window `{to}`"), view.window(from).and_then(|from| view.sound_axes(from)))
        }
        StepKind::Unpack(Unpack { to, .. }) => {
            (format!("`{}`", to.operand), view.operand(&to.operand).map(|o| [&o.axes[0], &o.axes[1]]))
        }
    };
    // Without axes another rule has its error.
    let Some([rows, cols]) = axes else {
        return Ok(());
    };
    if axis == rows {
        return Ok(());
    }
    let problem = match kind {
        StepKind::Unpack(_) if axis == cols => {
            format!("two workers would write one row's flag: it looks at every column of axis `{axis}`")
        }
        StepKind::Pack { .. } if axis == cols => {
            format!("two workers would share a row and its 2^e: axis `{axis}` is its columns")
        }
        _ if axis == cols => {
            format!("two workers would share a strip: `{keyword}` takes 32 rows with all columns of axis `{axis}`")
        }
        StepKind::Unpack(Unpack { from, .. }) if contraction(view, from).is_some_and(|sums| sums == axis) => {
            format!("two workers would add to the same rows of {target}: axis `{axis}` is summed over")
        }
        _ => format!("two workers would write the same part of {target}, which has no axis `{axis}`"),
    };
    Err(format!("{problem}; write `split({rows})`"))
}

/// The axis summed over by the multiply that fills a window.
fn contraction<'k>(view: &View<'k>, window: &Ident) -> Option<&'k Ident> {
    let (_, multiply) = view.writer(window)?;
    let StepKind::Multiply { data, .. } = &multiply.step.kind else {
        return None;
    };
    view.axes(view.window(data)?).map(|[_, sums]| sums)
}
