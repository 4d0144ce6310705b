//! Names a new kernel cannot have: it becomes a crate, a Rust function, part of C names and of file names.

use kernel_gen::verify;

/// The kernel of the template, as the crate's author will compile it.
#[path = "template/lib.rs"]
mod template;

/// Most letters of a name: what a crate registry takes. The name is also most of the file names cargo makes for the crate.
const LONGEST: usize = 64;

/// Keywords of Rust, reserved ones too.
const RUST: [&str; 51] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Crates every crate has, or this one depends on, and the types that are always in scope.
const CRATES_AND_TYPES: [&str; 28] = [
    "alloc",
    "core",
    "proc_macro",
    "std",
    "test",
    "hexagon_runtime",
    "kernel_dsl",
    "kernel_gen",
    "trainer",
    "verify",
    "bool",
    "char",
    "f16",
    "f32",
    "f64",
    "f128",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "str",
    "u8",
    "u16",
    "u32",
    "u64",
    "usize",
];
/// What else the template's files call something.
const TEMPLATE: [&str; 6] = ["emit_c", "explain", "kernel", "main", "plan", "shape"];
/// The C library: who reads `printf.c` or calls `pf_printf` expects something else.
const C_LIBRARY: [&str; 52] = [
    "abort", "abs", "assert", "atan", "calloc", "ceil", "cos", "div", "exit", "exp", "fabs", "fclose", "fflush",
    "floor", "fma", "fmax", "fmin", "fopen", "fprintf", "fread", "free", "fwrite", "getenv", "labs", "ldexp", "log",
    "malloc", "memchr", "memcmp", "memcpy", "memmove", "memset", "pow", "printf", "puts", "qsort", "rand", "realloc",
    "remove", "rename", "round", "scanf", "signal", "sin", "snprintf", "sprintf", "sqrt", "strcmp", "strcpy", "strlen",
    "system", "time",
];

/// Why `name` cannot name a kernel.
pub(super) fn problem(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(plain) {
        return Some("take lower-case letters, digits and _, a letter first".to_owned());
    }
    if name.len() > LONGEST {
        return Some(format!("it has {} letters; take at most {LONGEST}", name.len()));
    }
    let taken = [
        (&RUST[..], "it is a keyword of Rust"),
        (&CRATES_AND_TYPES, "Rust has a crate or type of this name"),
        (&TEMPLATE, "the files of a new crate use it for something else"),
        (&C_LIBRARY, "the C library has a function of this name"),
    ];
    if let Some((_, reason)) = taken.iter().find(|(names, _)| names.contains(&name)) {
        return Some(format!("{reason}; take another"));
    }
    // What the emitted C cannot take, and what the template's axes, operands, windows and loops are called.
    let mut kernel = template::my_kernel();
    kernel.name = name.to_owned();
    let broken = verify(&kernel).err()?;
    broken.first().map(|rule| format!("{}; {}", rule.message, rule.help))
}
