//! What a command prints. The first failure of standard output is kept for the end of the command: work is not broken off
//! because nobody reads, and nothing panics. Standard error has nobody left to complain to.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use super::error::CliError;

/// What a shell reports for a program that SIGPIPE ended.
const BROKEN_PIPE: u8 = 128 + 13;

static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// `print!` that cannot panic.
macro_rules! out {
    ($($text:tt)*) => { $crate::cli::output::print(format_args!($($text)*)) };
}

/// `println!` that cannot panic.
macro_rules! outln {
    ($($text:tt)*) => { $crate::cli::output::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// `eprintln!` that cannot panic.
macro_rules! errln {
    ($($text:tt)*) => { $crate::cli::output::note(format_args!("{}\n", format_args!($($text)*))) };
}

/// Prints to standard output, unless it has failed before.
pub(super) fn print(text: fmt::Arguments<'_>) {
    if FAILURE.get().is_none() {
        keep(io::stdout().write_fmt(text));
    }
}

/// Prints to standard error.
pub(super) fn note(text: fmt::Arguments<'_>) {
    // Whether anybody reads along changes nothing about the work.
    let _ = io::stderr().write_fmt(text);
}

/// Keeps the failure of something printed by other means.
pub(super) fn keep(printed: io::Result<()>) {
    if let Err(failure) = printed {
        // The first one counts.
        let _ = FAILURE.set(failure);
    }
}

/// What a command that succeeded with `code` ends with, now that all is printed.
///
/// # Errors
/// Output that is lost, unless its reader left.
pub(super) fn finish(code: ExitCode) -> Result<ExitCode, CliError> {
    keep(io::stdout().flush());
    match FAILURE.get() {
        None => Ok(code),
        Some(failure) if failure.kind() == io::ErrorKind::BrokenPipe => {
            Ok(if code == ExitCode::SUCCESS { ExitCode::from(BROKEN_PIPE) } else { code })
        }
        Some(failure) => Err(CliError::Output { reason: failure.to_string() }),
    }
}
