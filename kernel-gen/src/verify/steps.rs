//! Steps of the kernel's author: a body that is one block of C, and tiles it can take.

use super::{Diagnostic, Rule, declarations::tile_format};
use crate::ir::{HvxStep, HvxStepId, Kernel, Source, StepInput, StepKind};

use super::placed::Placed;
use c_body::{Mistake, mistakes};

// The macro checks the same at compile time; a macro crate cannot lend its functions.
#[path = "../../../kernel-dsl/src/c_body.rs"]
mod c_body;

pub(super) fn check(kernel: &Kernel, found: &mut Vec<Diagnostic>) {
    let steps = Placed::all(&kernel.schedule);
    for (index, step) in kernel.steps.iter().enumerate() {
        body(step, found);
        if let StepInput::Packed(format, _) = step.input {
            tile_format(&step.name, format, step.source, found);
        }
        let applied =
            steps.iter().any(|p| matches!(p.step.kind, StepKind::Apply { step: HvxStepId(i), .. } if i == index));
        if !applied {
            found.push(Diagnostic::new(
                Rule::Dataflow,
                step.source,
                format!("step `{}` is applied nowhere", step.name),
                format!("write `apply {} TO <- FROM;` in the schedule, or remove it", step.name),
            ));
        }
    }
}

/// The place of a line and column of a body whose text begins at `text`, if anybody knows that.
fn place(text: Source, line: usize, column: usize) -> Option<Source> {
    let [line, column] = [line, column].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    // How many quotes stand before the first line only the author knows.
    let column = if line == 1 { text.column } else { column };
    (text.line > 0).then(|| Source { line: text.line.saturating_add(line - 1), column, ..text })
}

/// The body stands inside a function, may not end it, and does nothing the models cannot see.
fn body(step: &HvxStep, found: &mut Vec<Diagnostic>) {
    if step.body.trim().is_empty() {
        found.push(Diagnostic::new(
            Rule::Body,
            step.source,
            format!("step `{}` has an empty body", step.name),
            "store the 16 vectors of the FP16 tile at `to` with `pf_vstore`",
        ));
    }
    for Mistake { line, column, what, help } in mistakes(&step.body) {
        let (place, source) = match place(step.body_source, line, column) {
            Some(source) => (String::new(), source),
            None => (format!(", line {line}, column {column} of its text"), step.source),
        };
        let message = format!("in the body of step `{}`{place}: {what}", step.name);
        found.push(Diagnostic::new(Rule::Body, source, message, help));
    }
}
