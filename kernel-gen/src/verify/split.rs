//! Worker split: what two workers write must not meet.
//!
//! A strip is 32 rows and all their columns, and a worker gets whole strips. So the rows of a strip are the only axis along
//! which every tile, every vector in DDR, and every exponent and flag of a row has one worker.

use super::{Diagnostic, Rule, placed::Placed, view::View};
use crate::ir::{AxisId, StepKind};

pub(super) fn check(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for placed in &view.steps {
        if let Some(axis) = placed.step.split
            && let Err((message, help)) = split(view, placed, axis)
        {
            found.push(Diagnostic::new(Rule::Split, placed.step.source, message, help));
        }
    }
}

fn split(view: &View<'_>, placed: &Placed<'_>, axis: AxisId) -> Result<(), (String, String)> {
    let kind = &placed.step.kind;
    let keyword = kind.keyword();
    let name = |axis: AxisId| view.axis_name(axis);
    let (target, axes) = match *kind {
        StepKind::Load { .. } => {
            return Err((
                "`load` cannot be split: one thread links all DMA descriptors".into(),
                "split the step that turns the window into tiles".into(),
            ));
        }
        StepKind::Multiply { .. } => {
            return Err((
                "`multiply` cannot be split: there is one HMX, and the thread that locked it issues every packet"
                    .into(),
                "split the HVX steps before and after it".into(),
            ));
        }
        StepKind::PackRows { window, block, .. } | StepKind::PackCols { window, block, .. } => {
            (format!("window `{}`", view.window_name(window)), Some(block))
        }
        StepKind::InterleavePairs { to, from }
        | StepKind::ScatterWords { to, from }
        | StepKind::Dequantise { to, from }
        | StepKind::Apply { to, from, .. } => (format!("window `{}`", view.window_name(to)), view.axes(from)),
        StepKind::UnpackRows { operand, block, .. } | StepKind::UnpackCols { operand, block, .. } => {
            (format!("`{}`", view.kernel.operands[operand.0].name), Some(block))
        }
    };
    // Without axes another rule has its error.
    let Some([rows, cols]) = axes else {
        return Ok(());
    };
    if axis == rows {
        return Ok(());
    }
    let unpacks = matches!(kind, StepKind::UnpackRows { .. } | StepKind::UnpackCols { .. });
    let packs = matches!(kind, StepKind::PackRows { .. } | StepKind::PackCols { .. });
    let message = if axis == cols && unpacks {
        format!("two workers would write one row's flag: it looks at every column of axis `{}`", name(axis))
    } else if axis == cols && packs {
        format!("two workers would share a row and its 2^e: axis `{}` is its columns", name(axis))
    } else if axis == cols {
        format!("two workers would share a strip: `{keyword}` takes 32 rows with all columns of axis `{}`", name(axis))
    } else if unpacks && axis == view.facts.contraction {
        format!("two workers would add to the same rows of {target}: axis `{}` is summed over", name(axis))
    } else {
        format!("two workers would write the same part of {target}, which has no axis `{}`", name(axis))
    };
    Err((message, format!("write `split({})`", name(rows))))
}
