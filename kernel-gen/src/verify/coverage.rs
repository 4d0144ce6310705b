//! Every element of an output is the sum of all its partial sums, each taken once.

use super::{Diagnostic, Rule, placed::Placed, view::View};
use crate::ir::{OperandRole, StepKind};

pub(super) fn check(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for (index, operand) in view.kernel.operands.iter().enumerate() {
        if operand.role != OperandRole::Output {
            continue;
        }
        let unpacks: Vec<&Placed<'_>> = view
            .steps
            .iter()
            .filter(|p| unpacked(&p.step.kind) && p.step.kind.operand().is_some_and(|(o, _)| o.0 == index))
            .collect();
        if unpacks.is_empty() {
            found.push(Diagnostic::new(
                Rule::Coverage,
                operand.source,
                format!("output `{}` is never written", operand.name),
                "add an `unpack_rows` or `unpack_cols` step",
            ));
        }
        for second in unpacks.iter().skip(1) {
            found.push(Diagnostic::new(
                Rule::Coverage,
                second.step.source,
                format!("output `{}` is written by two steps", operand.name),
                "one step writes an output: a second one would store over it or add twice",
            ));
        }
        for unpack in unpacks {
            placed(view, unpack, found);
        }
    }
    let mut outputs = view.kernel.operands.iter().filter(|operand| operand.role == OperandRole::Output);
    if let Some(first) = outputs.next() {
        for second in outputs {
            found.push(Diagnostic::new(
                Rule::Coverage,
                second.source,
                format!("`{}` is a second output beside `{}`", second.name, first.name),
                "a kernel has one output, which its reference is for: write a kernel for each",
            ));
        }
    }
}

fn unpacked(kind: &StepKind) -> bool {
    matches!(kind, StepKind::UnpackRows { .. } | StepKind::UnpackCols { .. })
}

fn placed(view: &View<'_>, unpack: &Placed<'_>, found: &mut Vec<Diagnostic>) {
    let (StepKind::UnpackRows { operand, block, window, .. } | StepKind::UnpackCols { operand, block, window, .. }) =
        unpack.step.kind
    else {
        return;
    };
    let name = &view.kernel.operands[operand.0].name;
    let contraction = view.facts.contraction;
    let sums = view.axis_name(contraction);
    let source = unpack.step.source;
    for l in &unpack.loops {
        if !block.contains(&l.axis) && l.axis != contraction {
            found.push(Diagnostic::new(
                Rule::Coverage,
                source,
                format!("`{name}` is written again for every block of axis `{}`", view.axis_name(l.axis)),
                "move the step out of that loop",
            ));
        }
    }
    let around = unpack.loop_over(contraction);
    if around.is_none() {
        found.push(Diagnostic::new(
            Rule::Coverage,
            source,
            format!("`+=` sums over axis `{sums}`, but no loop over it is around this step"),
            "move the step into the loop",
        ));
    }
    let multiply = view.writer(window).and_then(|p| p.loop_over(contraction));
    if multiply.is_some_and(|inner| !around.is_some_and(|l| std::ptr::eq(l, inner))) {
        found.push(Diagnostic::new(
            Rule::Coverage,
            source,
            format!("partial sums over axis `{sums}` are overwritten before this step takes them"),
            "move the step into the loop that multiplies",
        ));
    }
}
