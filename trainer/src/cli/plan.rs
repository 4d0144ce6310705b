//! `permafrost plan`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hexagon_runtime::{Arch, RuntimeConfig};

use super::device::DeviceArgs;
use super::error::CliError;
use super::session::Session;

/// Flags of `permafrost plan`.
#[derive(Args, Debug)]
pub(super) struct PlanArgs {
    /// The base model: a .gguf file or a Hugging Face folder.
    #[arg(long)]
    model: PathBuf,
    /// NPU generation to plan for.
    #[arg(long, value_enum, default_value_t = Generation::V79)]
    arch: Generation,
    #[command(flatten)]
    device: DeviceArgs,
}

/// A generation of the Hexagon NPU.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Generation {
    /// Snapdragon 8 Elite.
    V79,
    /// Snapdragon 8 Elite Gen 5.
    V81,
}

impl PlanArgs {
    /// Prints the plan table, start-up check included: a product that fails it stands there with the reason.
    pub fn run(self) -> Result<(), CliError> {
        let arch = match self.arch {
            Generation::V79 => Arch::V79,
            Generation::V81 => Arch::V81,
        };
        let config = RuntimeConfig { arch, ..RuntimeConfig::default() };
        let session = Session::configured(&self.model, &self.device, config)?;
        print!("{}", session.runtime.plan_table());
        Ok(())
    }
}
