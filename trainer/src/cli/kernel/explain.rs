//! `permafrost kernel explain`

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::selection::{self, PlanArgs, Tile};
use super::{KernelError, json};

/// Flags of `permafrost kernel explain`.
#[derive(Args, Debug)]
pub(super) struct ExplainArgs {
    /// Kernel.
    kernel: String,
    #[command(flatten)]
    plan: PlanArgs,
    /// Tile sizes in place of the planner's: NAME=VALUE,…
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    tiles: Vec<Tile>,
    /// Also draw the VTCM map into this file.
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl ExplainArgs {
    /// Prints the explanation. Nothing is computed.
    pub fn run(self) -> Result<(), KernelError> {
        let kernel = selection::kernel(&self.kernel)?;
        let plan = self.plan.plan(&kernel, &self.tiles)?;
        let rows = 0..plan.axes.first().map_or(0, |tokens| tokens.extent);
        let explanation = kernel_gen::explain::explain(&kernel, &plan, rows);
        if let Some(path) = self.svg {
            fs::write(&path, explanation.svg()).map_err(|source| KernelError::Io { path, source })?;
        }
        if self.json {
            json::print(&json::explanation(&explanation));
        } else {
            out!("{explanation}");
        }
        Ok(())
    }
}
