//! `permafrost kernel …`: what a kernel author asks of the library kernels, one file per command.

mod author;
mod build;
mod check;
mod diff;
mod emit;
mod error;
mod explain;
mod footprint;
mod json;
mod list;
mod model;
mod names;
mod operand_data;
mod run;
mod selection;
mod sources;

use clap::{Args, Subcommand};

pub(super) use error::KernelError;

/// `permafrost kernel`
#[derive(Args, Debug)]
pub(super) struct KernelArgs {
    #[command(subcommand)]
    command: KernelCommand,
}

/// The commands under it.
#[derive(Debug, Subcommand)]
enum KernelCommand {
    /// List the library kernels: axes, operands, tile sizes, windows.
    List(list::ListArgs),
    /// Verify library kernels and plan them: all, for both architectures, unless told otherwise.
    Check(check::CheckArgs),
    /// Write the C project of one kernel or all of them.
    Emit(emit::EmitArgs),
    /// Compile the C project of the library, or of some kernels, for Hexagon, and look the result through.
    Build(build::BuildArgs),
    /// Show loops, VTCM, counts and predicted bound of a kernel for a shape.
    Explain(explain::ExplainArgs),
    /// Run a kernel on the functional model and compare it with its reference.
    Run(run::RunArgs),
    /// Compare two tile choices or two kernels: plan, counts, emitted C.
    Diff(diff::DiffArgs),
    /// Write a crate with a kernel of your own and its test.
    New(author::NewArgs),
}

impl KernelArgs {
    /// Runs the command.
    pub fn run(self) -> Result<(), KernelError> {
        match self.command {
            KernelCommand::List(args) => args.run(),
            KernelCommand::Check(args) => args.run(),
            KernelCommand::Emit(args) => args.run(),
            KernelCommand::Build(args) => args.run(),
            KernelCommand::Explain(args) => args.run(),
            KernelCommand::Run(args) => args.run(),
            KernelCommand::Diff(args) => args.run(),
            KernelCommand::New(args) => args.run(),
        }
    }
}
