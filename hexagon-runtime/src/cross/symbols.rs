//! What a library leaves to the phone's runtime.

use std::path::Path;
use std::process::Command;

use super::compile::run;
use super::{CrossError, Toolchain};

/// The names of the phone's runtime that a library may leave open: its operating system, resource manager, log and queue.
pub fn vendor_symbols() -> impl Iterator<Item = &'static str> {
    include_str!("../../dsp/vendor_symbols.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Undefined symbols of a library, sorted.
///
/// # Errors
/// [`CrossError::Refused`]: the file cannot be read as one.
pub fn undefined(tools: &Toolchain, library: &Path) -> Result<Vec<String>, CrossError> {
    listed(tools, library, "--undefined-only")
}

/// Symbols a library gives, sorted.
///
/// # Errors
/// [`CrossError::Refused`]: the file cannot be read as one.
pub fn exported(tools: &Toolchain, library: &Path) -> Result<Vec<String>, CrossError> {
    listed(tools, library, "--defined-only")
}

/// The last word of every line of the dynamic symbol table.
fn listed(tools: &Toolchain, library: &Path, which: &str) -> Result<Vec<String>, CrossError> {
    let listed = run(Command::new(&tools.nm).args(["-D", which]).arg(library))?;
    let text = String::from_utf8_lossy(&listed);
    let mut names: Vec<String> =
        text.lines().filter_map(|line| line.split_whitespace().last().map(str::to_owned)).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// Whether all of `undefined` are the runtime's.
///
/// # Errors
/// [`CrossError::Unlisted`] with those that are not.
pub fn check_undefined(undefined: &[String]) -> Result<(), CrossError> {
    let strange: Vec<&str> =
        undefined.iter().map(String::as_str).filter(|name| !vendor_symbols().any(|known| known == *name)).collect();
    if strange.is_empty() { Ok(()) } else { Err(CrossError::Unlisted { symbols: strange.join(", ") }) }
}
