//! `permafrost plan`

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use hexagon_runtime::{Arch, RuntimeConfig};

use super::counters::print_sessions;
use super::device::DeviceArgs;
use super::error::CliError;
use super::limits::{positive, rank};
use super::model_shape::ModelShape;
use super::session::Session;
use crate::memory::{ActivationBudget, available};
use crate::plan::{PlanRequest, Report};

/// Threads unless told otherwise: cores of a phone.
const PHONE_CORES: usize = 8;

/// Flags of `permafrost plan`.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("which").args(["preset", "config", "model"]).required(true)))]
pub(super) struct PlanArgs {
    #[command(flatten)]
    shape: ModelShape,
    /// The base model, weights and all: a .gguf file or a Hugging Face folder. Prints its plan table, start-up check included.
    #[arg(long, conflicts_with = "json")]
    model: Option<PathBuf>,
    /// NPU generation to plan for.
    #[arg(long, value_enum, default_value_t = Generation::V79)]
    arch: Generation,
    /// Tokens of a step, as one sequence.
    #[arg(long, default_value_t = 1024, value_parser = positive)]
    tokens: usize,
    /// Rank of the adapters, one on every projection.
    #[arg(long, default_value_t = 16, value_parser = rank)]
    rank: usize,
    /// Memory for activations: store, recompute, auto (a share of what this machine has), or a size such as 8GB.
    #[arg(long, default_value_t = ActivationBudget::Recompute)]
    activation_bytes: ActivationBudget,
    /// Print JSON.
    #[arg(long)]
    json: bool,
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
    /// Prints what a step needs, from shapes alone; for a model file the plan table, where a product that fails the
    /// start-up check stands with the reason.
    pub fn run(self) -> Result<(), CliError> {
        let arch = match self.arch {
            Generation::V79 => Arch::V79,
            Generation::V81 => Arch::V81,
        };
        if let Some(model) = &self.model {
            let session = Session::configured(model, &self.device, RuntimeConfig { arch, ..RuntimeConfig::default() })?;
            out!("{}", session.runtime.plan_table());
            print_sessions(&session.runtime, self.device.session_bytes());
            return Ok(());
        }
        let (name, config) = self.shape.read()?;
        let budget = self.activation_bytes;
        let report = Report::of(&PlanRequest {
            name,
            config,
            policy: self.device.precision()?,
            arch,
            tokens: self.tokens,
            rank: self.rank,
            session_bytes: self.device.session_bytes(),
            budget,
            threads: self.device.threads.map_or(PHONE_CORES, usize::from),
            available: if budget == ActivationBudget::Available { available() } else { None },
        })?;
        match self.json {
            true => outln!("{}", serde_json::to_string_pretty(&report).map_err(CliError::Json)?),
            false => out!("{report}"),
        }
        Ok(())
    }
}
