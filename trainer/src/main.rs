//! The `permafrost` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    trainer::cli::main()
}
