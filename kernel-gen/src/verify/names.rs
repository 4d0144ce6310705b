//! Names: they become C identifiers.

use std::collections::HashMap;

use super::{Diagnostic, Rule};
use crate::{
    ir::{Kernel, Source, Statement},
    rules::c_name::problem,
};

pub(super) fn check(kernel: &Kernel, found: &mut Vec<Diagnostic>) {
    let mut names: Vec<(&str, &str, Source)> = vec![("kernel", &kernel.name, kernel.source)];
    names.extend(kernel.axes.iter().map(|a| ("axis", a.name.as_str(), a.source)));
    names.extend(kernel.operands.iter().map(|o| ("operand", o.name.as_str(), o.source)));
    names.extend(kernel.tunables.iter().map(|t| ("tunable", t.name.as_str(), t.source)));
    names.extend(kernel.windows.iter().map(|w| ("window", w.name.as_str(), w.source)));
    names.extend(kernel.steps.iter().map(|s| ("step", s.name.as_str(), s.source)));
    loops(&kernel.schedule, &mut names);

    let mut seen: HashMap<&str, &str> = HashMap::new();
    for &(what, name, source) in &names {
        if let Some(problem) = problem(name) {
            found.push(Diagnostic::new(
                Rule::Name,
                source,
                format!("{what} `{name}` cannot keep its name: {problem}"),
                "take another: ASCII letters, digits and `_`, starting with a letter",
            ));
        }
        // Two loops may walk blocks of the same name one after the other; everything else is named once.
        let earlier = seen.insert(name, what);
        if let Some(earlier) = earlier.filter(|&earlier| !(earlier == "loop" && what == "loop")) {
            let article = if earlier.starts_with(['a', 'o']) { "an" } else { "a" };
            let also = if earlier == what { format!("another {what}") } else { format!("{article} {earlier}") };
            found.push(Diagnostic::new(
                Rule::Name,
                source,
                format!("{what} `{name}` has the name of {also}"),
                "give each axis, operand, tunable, window, step and loop its own name",
            ));
        }
    }
}

fn loops<'k>(body: &'k [Statement], names: &mut Vec<(&'k str, &'k str, Source)>) {
    for statement in body {
        if let Statement::Loop(l) = statement {
            names.push(("loop", &l.name, l.source));
            loops(&l.body, names);
        }
    }
}
