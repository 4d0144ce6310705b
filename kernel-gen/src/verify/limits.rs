//! Counts the ABI can carry, and indices that point at something.

use super::{Diagnostic, Rule};
use crate::{
    ir::{HvxStepId, Kernel, Quantity, Source, Statement, Step, StepKind},
    rules::limits::{MAX_AXES, MAX_OPERANDS, MAX_STAGES, MAX_TUNABLES, MAX_WINDOWS},
};

/// Deepest nest of loops: one per axis is all a legal kernel needs.
const MAX_DEPTH: usize = 16;

pub(super) fn check(kernel: &Kernel, found: &mut Vec<Diagnostic>) {
    for (what, count, limit) in [
        ("axes", kernel.axes.len(), MAX_AXES),
        ("operands", kernel.operands.len(), MAX_OPERANDS),
        ("tunables", kernel.tunables.len(), MAX_TUNABLES),
        ("windows", kernel.windows.len(), MAX_WINDOWS),
    ] {
        if count > limit {
            found.push(Diagnostic::new(
                Rule::Limit,
                kernel.source,
                format!("kernel `{}` has {count} {what}, a plan carries {limit}", kernel.name),
                format!("merge or remove {}", what),
            ));
        }
    }
    for operand in &kernel.operands {
        for axis in operand.axes {
            index(found, operand.source, "axis", axis.0, kernel.axes.iter().map(|d| &d.name));
        }
    }
    for window in &kernel.windows {
        for tunable in window.extents {
            index(found, window.source, "tunable", tunable.0, kernel.tunables.iter().map(|d| &d.name));
        }
        if window.stages == 0 || window.stages > MAX_STAGES {
            found.push(Diagnostic::new(
                Rule::Limit,
                window.source,
                format!("window `{}` has {} stages", window.name, window.stages),
                format!("take 1 to {MAX_STAGES} stages; 2 hide a load behind the work on the block before"),
            ));
        }
    }
    for requirement in &kernel.requirements {
        for quantity in &requirement.uses {
            match quantity {
                Quantity::Tunable(t) => {
                    index(found, requirement.source, "tunable", t.0, kernel.tunables.iter().map(|d| &d.name))
                }
                Quantity::Axis(a) => index(found, requirement.source, "axis", a.0, kernel.axes.iter().map(|d| &d.name)),
                Quantity::WindowBytes(w) => {
                    index(found, requirement.source, "window", w.0, kernel.windows.iter().map(|d| &d.name))
                }
                Quantity::VtcmBytes => {}
            }
        }
    }
    statements(kernel, &kernel.schedule, 0, found);
}

fn statements(kernel: &Kernel, body: &[Statement], depth: usize, found: &mut Vec<Diagnostic>) {
    for statement in body {
        match statement {
            Statement::Loop(l) => {
                index(found, l.source, "axis", l.axis.0, kernel.axes.iter().map(|d| &d.name));
                index(found, l.source, "tunable", l.tile.0, kernel.tunables.iter().map(|d| &d.name));
                for window in &l.pipeline {
                    index(found, l.source, "window", window.0, kernel.windows.iter().map(|d| &d.name));
                }
                if depth == MAX_DEPTH {
                    found.push(Diagnostic::new(
                        Rule::Limit,
                        l.source,
                        format!("loops are nested more than {MAX_DEPTH} deep"),
                        "one loop per axis is enough",
                    ));
                } else {
                    statements(kernel, &l.body, depth + 1, found);
                }
            }
            Statement::Step(step) => self::step(kernel, step, found),
        }
    }
}

fn step(kernel: &Kernel, step: &Step, found: &mut Vec<Diagnostic>) {
    for window in step.kind.reads().into_iter().chain(step.kind.writes()) {
        index(found, step.source, "window", window.0, kernel.windows.iter().map(|d| &d.name));
    }
    if let StepKind::Apply { step: HvxStepId(own), .. } = step.kind {
        index(found, step.source, "step", own, kernel.steps.iter().map(|d| &d.name));
    }
    if let Some(axis) = step.split {
        index(found, step.source, "axis", axis.0, kernel.axes.iter().map(|d| &d.name));
    }
    for vector in step.kind.vectors() {
        index(found, step.source, "operand", vector.0, kernel.operands.iter().map(|d| &d.name));
    }
    if let Some((operand, block)) = step.kind.operand() {
        index(found, step.source, "operand", operand.0, kernel.operands.iter().map(|d| &d.name));
        for axis in block {
            index(found, step.source, "axis", axis.0, kernel.axes.iter().map(|d| &d.name));
        }
    }
}

fn index<'k>(
    found: &mut Vec<Diagnostic>,
    source: Source,
    what: &str,
    index: usize,
    declared: impl ExactSizeIterator<Item = &'k String>,
) {
    let count = declared.len();
    if index >= count {
        let names: Vec<_> = declared.enumerate().map(|(index, name)| format!("{index} is `{name}`")).collect();
        let help = if count == 0 { format!("declare one, or name no {what} here") } else { names.join(", ") };
        found.push(Diagnostic::new(
            Rule::Limit,
            source,
            format!("{what} {index} does not exist: the kernel declares {count}"),
            help,
        ));
    }
}
