//! Names: declared once, and declared at all.

use std::collections::HashMap;

use proc_macro2::Ident;

use crate::{
    near::way_out,
    report::Report,
    rules::c_name::problem,
    tree::{AxisRole, Conversion, Kernel, Loop, Statement, StepKind},
};

pub(super) fn check(kernel: &Kernel, report: &mut Report) {
    let names = Names {
        axes: kernel.axes.iter().map(|a| &a.name).collect(),
        operands: kernel.operands.iter().map(|o| &o.name).collect(),
        tunables: kernel.tunables.iter().map(|t| &t.name).collect(),
        windows: kernel.windows.iter().map(|w| &w.name).collect(),
        steps: kernel.steps.iter().map(|s| &s.name).collect(),
        unreadable: &kernel.unreadable,
        elsewhere: &kernel.elsewhere,
    };
    for operand in &kernel.operands {
        for axis in &operand.axes {
            names.known("axis", axis, &names.axes, report);
        }
    }
    for window in &kernel.windows {
        for tunable in &window.extents {
            names.known("tunable", tunable, &names.tunables, report);
        }
    }
    if let Some(schedule) = &kernel.schedule {
        statements(&names, schedule, &mut Vec::new(), report);
    }
}

/// Items a kernel cannot do without.
pub(super) fn missing(kernel: &Kernel, report: &mut Report) {
    let name = &kernel.name;
    let mut require = |present: bool, what: &str| {
        if !present {
            report.error(name.span(), format!("kernel `{name}` has no {what}"));
        }
    };
    require(!kernel.axes.is_empty(), "`axes { … }`");
    require(kernel.schedule.as_ref().is_some_and(|s| !s.is_empty()), "`schedule { … }`, or an empty one");
    require(kernel.reference.is_some(), "`reference |c, i, j| …`: what it computes, in f64");
    if let Some((first, rest)) = kernel.axes.split_first() {
        let later = rest.iter().find(|a| a.role == AxisRole::Token);
        if first.role != AxisRole::Token {
            report.error(
                first.name.span(),
                "the first axis must be the token axis: a request may fill axis 0 only in part",
            );
        } else if let Some(second) = later {
            report
                .error(second.name.span(), format!("axis `{}` is a second token axis; a kernel has one", second.name));
        }
    }
}

/// Everything that has a name, with what it is.
fn named(kernel: &Kernel) -> Vec<(&'static str, &Ident)> {
    fn loops<'k>(body: &'k [Statement], names: &mut Vec<(&'static str, &'k Ident)>) {
        for statement in body {
            if let Statement::Loop(l) = statement {
                names.push(("loop", &l.variable));
                loops(&l.body, names);
            }
        }
    }
    let mut names = vec![("kernel", &kernel.name)];
    names.extend(kernel.axes.iter().map(|a| ("axis", &a.name)));
    names.extend(kernel.operands.iter().map(|o| ("operand", &o.name)));
    names.extend(kernel.tunables.iter().map(|t| ("tunable", &t.name)));
    names.extend(kernel.windows.iter().map(|w| ("window", &w.name)));
    names.extend(kernel.steps.iter().filter(|s| kernel.applies(&s.name)).map(|s| ("step", &s.name)));
    loops(kernel.schedule.as_deref().unwrap_or_default(), &mut names);
    names
}

/// Names become C identifiers.
pub(super) fn in_c(kernel: &Kernel, report: &mut Report) {
    for (what, name) in named(kernel) {
        if let Some(problem) = problem(&name.to_string()) {
            report.error(name.span(), format!("{what} `{name}` cannot keep its name: {problem}; take another"));
        }
    }
}

/// One name for two things.
pub(super) fn duplicates(kernel: &Kernel, report: &mut Report) {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for (what, name) in named(kernel) {
        let earlier = seen.insert(name.to_string(), what);
        // Two loops may walk blocks of the same name one after the other.
        if let Some(earlier) = earlier.filter(|&earlier| !(earlier == "loop" && what == "loop")) {
            let also = if earlier == what { format!("another {what}") } else { with_article(earlier) };
            report.error(name.span(), format!("{what} `{name}` has the name of {also}: give each its own"));
        }
    }
}

fn with_article(what: &str) -> String {
    format!("{} {what}", if what.starts_with(['a', 'o']) { "an" } else { "a" })
}

struct Names<'k> {
    axes: Vec<&'k Ident>,
    operands: Vec<&'k Ident>,
    tunables: Vec<&'k Ident>,
    windows: Vec<&'k Ident>,
    steps: Vec<&'k Ident>,
    unreadable: &'k [Ident],
    elsewhere: &'k [(Ident, String)],
}

impl Names<'_> {
    fn known(&self, what: &str, name: &Ident, declared: &[&Ident], report: &mut Report) {
        if declared.contains(&name) || self.unreadable.contains(name) {
            return;
        }
        if let Some((_, place)) = self.elsewhere.iter().find(|(other, _)| other == name) {
            let message = format!(
                "{what} `{name}` is declared only {place}: use it in a `when` like that, or declare it in the other branch too"
            );
            report.error(name.span(), message);
            return;
        }
        let list: Vec<_> = declared.iter().map(|d| format!("`{d}`")).collect();
        let hint = match list.as_slice() {
            [] => format!("the kernel declares no {what}"),
            names => format!("declared: {}", names.join(", ")),
        };
        let kinds = [
            ("an axis", &self.axes),
            ("an operand", &self.operands),
            ("a tunable", &self.tunables),
            ("a window", &self.windows),
            ("a step", &self.steps),
        ];
        if let Some((other, _)) = kinds.iter().find(|(_, names)| names.contains(&name)) {
            report.error(
                name.span(),
                format!("`{name}` is {other}, {what} belongs here; {hint}", what = with_article(what)),
            );
            return;
        }
        let known: Vec<_> = declared.iter().map(ToString::to_string).collect();
        let way_out = way_out(&name.to_string(), known.iter().map(String::as_str), &hint);
        report.error(name.span(), format!("unknown {what} `{name}`; {way_out}"));
    }
}

fn statements<'k>(names: &Names<'_>, body: &'k [Statement], loops: &mut Vec<&'k Loop>, report: &mut Report) {
    for statement in body {
        match statement {
            Statement::Loop(l) => {
                if names.tunables.contains(&&l.axis) && names.axes.contains(&&l.tile) {
                    let message = format!("the axis comes before its tile: write `tiles({}, {})`", l.tile, l.axis);
                    report.error(l.axis.span(), message);
                } else {
                    names.known("axis", &l.axis, &names.axes, report);
                    names.known("tunable", &l.tile, &names.tunables, report);
                }
                for window in &l.pipeline {
                    names.known("window", window, &names.windows, report);
                }
                if loops.iter().any(|outer| outer.variable == l.variable) {
                    report.error(l.variable.span(), format!("loop `{}` has the name of a loop around it", l.variable));
                }
                loops.push(l);
                statements(names, &l.body, loops, report);
                loops.pop();
            }
            Statement::Step(step) => {
                for window in step.kind.reads().into_iter().chain(step.kind.writes()) {
                    names.known("window", window, &names.windows, report);
                }
                if let StepKind::Convert { conversion: Conversion::Apply(name), .. } = &step.kind {
                    names.known("step", name, &names.steps, report);
                }
                if let Some(axis) = &step.split {
                    names.known("axis", axis, &names.axes, report);
                }
                for vector in step.kind.vectors() {
                    names.known("operand", vector, &names.operands, report);
                }
                let Some(block) = step.kind.block() else {
                    continue;
                };
                names.known("operand", &block.operand, &names.operands, report);
                for variable in &block.variables {
                    if !loops.iter().any(|l| l.variable == *variable) {
                        let around: Vec<_> = loops.iter().map(|l| format!("`{}`", l.variable)).collect();
                        let hint = if around.is_empty() {
                            "the step stands outside all loops".to_string()
                        } else {
                            format!("loops around this step: {}", around.join(", "))
                        };
                        let known: Vec<_> = loops.iter().map(|l| l.variable.to_string()).collect();
                        let hint = way_out(&variable.to_string(), known.iter().map(String::as_str), &hint);
                        report.error(variable.span(), format!("`{variable}` is no loop around this step; {hint}"));
                    }
                }
            }
        }
    }
}
