//! The commands of the `permafrost` binary, one file each.

#[macro_use]
mod output;

mod counters;
mod demo;
mod device;
mod error;
mod eval;
mod fetch;
mod interrupt;
mod kernel;
mod limits;
mod log;
mod model_shape;
mod plan;
mod progress;
mod session;
mod synth;
mod train;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::CliError;

/// LoRA fine-tuning on the phone's NPU: every product with a frozen weight, forward and backward, runs there.
#[derive(Debug, Parser)]
#[command(name = "permafrost", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure, train and measure again a real 135M-parameter model on real tags.
    Demo(demo::DemoArgs),
    /// Train a LoRA adapter on a JSONL file.
    Train(Box<train::TrainArgs>),
    /// Print loss, targets and accuracy of a model, with or without an adapter.
    Eval(eval::EvalArgs),
    /// Fetch the demo's model into the cache folder and print its path.
    Fetch(fetch::FetchArgs),
    /// Author, check, explain and run the kernels of the NPU.
    Kernel(kernel::KernelArgs),
    /// Print what a step needs, from shapes alone: bytes, sessions, operations, tiles, predicted times and memory.
    Plan(Box<plan::PlanArgs>),
    /// Write a model folder with random weights at real shapes, to measure with.
    Synth(synth::SynthArgs),
}

/// Runs the command line of this process. Every error ends in a message on stderr and a code other than 0.
pub fn main() -> ExitCode {
    log::start();
    let result = match Cli::try_parse() {
        Ok(cli) => cli.run().and_then(output::finish),
        // Help and version are output like any other; what clap has to say about mistakes goes to stderr.
        Err(answer) => {
            let printed = answer.print();
            if answer.use_stderr() {
                return ExitCode::from(answer.exit_code() as u8);
            }
            output::keep(printed);
            output::finish(ExitCode::SUCCESS)
        }
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            errln!("{:?}", miette::Report::msg(whole_message(&error)));
            ExitCode::FAILURE
        }
    }
}

impl Cli {
    fn run(self) -> Result<ExitCode, CliError> {
        match self.command {
            Command::Demo(args) => args.run(),
            Command::Train(args) => args.run(),
            Command::Eval(args) => args.run().map(done),
            Command::Fetch(args) => args.run().map(done),
            Command::Kernel(args) => Ok(args.run().map(done)?),
            Command::Plan(args) => args.run().map(done),
            Command::Synth(args) => args.run().map(done),
        }
    }
}

fn done((): ()) -> ExitCode {
    ExitCode::SUCCESS
}

/// The error's text with those of its causes that it does not quote already.
fn whole_message(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reason = error.to_string();
        if !text.contains(&reason) {
            text = format!("{text}: {reason}");
        }
        cause = error.source();
    }
    text
}
