//! Names: they become C identifiers.

use std::collections::HashMap;

use super::{Diagnostic, Rule};
use crate::ir::{Kernel, Source, Statement};

/// Words of C11 and C23, macros that compilers or `errno.h` and `stdio.h` define, and the locals of emitted functions.
const TAKEN: &[&str] = &[
    "alignas",
    "alignof",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "nullptr",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "errno",
    "i386",
    "linux",
    "stderr",
    "stdin",
    "stdout",
    "unix",
    "accumulate",
    "activation",
    "argument",
    "at",
    "at_most",
    "block_bytes",
    "col",
    "column_bias",
    "column_scale",
    "dev",
    "exponents",
    "flags",
    "from",
    "from_strip_stride",
    "from_tile_stride",
    "i",
    "in_ddr",
    "last_byte",
    "out",
    "out_stride",
    "packet",
    "plan",
    "record",
    "request",
    "row",
    "row_bytes",
    "rows",
    "run",
    "run_stride",
    "stage",
    "status",
    "strip",
    "strip_stride",
    "ticket",
    "tile",
    "tile_bytes",
    "tile_stride",
    "tiles",
    "tiles_of",
    "to",
    "weight",
    "work",
    "worker",
    "workers",
];

/// What the C of a kernel for one architecture is called, before the number of the architecture.
pub(super) const ON_ARCH: &str = "_on_v";

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

fn problem(name: &str) -> Option<&'static str> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !plain || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Some("it is not a plain C identifier");
    }
    if name.starts_with("pf_") || name.starts_with("PF_") {
        return Some("names with `pf_` belong to the device layer");
    }
    if name.ends_with("_t") {
        return Some("C keeps names that end in `_t` for types");
    }
    if name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_') && name.len() > 1 {
        return Some("upper-case names belong to macros and constants of the emitted C");
    }
    if ["_len", "_ahead", "_tickets", "_issued", "_work", "_share"].iter().any(|ending| name.ends_with(ending)) {
        return Some("emitted C uses this ending for its own variables");
    }
    if name.rsplit_once(ON_ARCH).is_some_and(|(_, arch)| arch.parse::<u32>().is_ok()) {
        return Some("emitted C names what is for one architecture like this");
    }
    TAKEN.contains(&name).then_some("C or the emitted functions use it")
}
