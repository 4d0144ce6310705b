//! Which names emitted C can use.

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
pub const ON_ARCH: &str = "_on_v";

/// Why something cannot have this name in emitted C.
pub fn problem(name: &str) -> Option<&'static str> {
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
