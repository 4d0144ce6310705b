//! Steps of the kernel's author: a body that is one block of C, and tiles it can take.

use super::{Diagnostic, Rule, declarations::tile_format};
use crate::ir::{HvxStep, HvxStepId, Kernel, StepInput, StepKind};

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

/// The body stands inside a function, may not end it, and does nothing the models cannot see.
fn body(step: &HvxStep, found: &mut Vec<Diagnostic>) {
    let mut error = |message: String, help: &str| {
        found.push(Diagnostic::new(Rule::Body, step.source, message, help));
    };
    if step.body.trim().is_empty() {
        error(
            format!("step `{}` has an empty body", step.name),
            "store the 16 vectors of the FP16 tile at `to` with `pf_vstore`",
        );
    }
    for Mistake { what, help } in mistakes(&step.body) {
        error(format!("in the body of step `{}` {what}", step.name), help);
    }
}
