//! `permafrost kernel check`

use clap::Args;
use kernel_gen::{Arch, library, plan};
use serde_json::json;

use super::{KernelError, json, selection};

/// Flags of `permafrost kernel check`.
#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Shapes every kernel must have a plan for: one tile, an odd one, and a large projection at a large bucket.
const SHAPES: [[u32; 3]; 3] = [[32, 32, 32], [77, 1000, 333], [4096, 9728, 2560]];

impl CheckArgs {
    /// Verifies and plans every library kernel.
    pub fn run(self) -> Result<(), KernelError> {
        let mut checked = Vec::new();
        for kernel in library::all() {
            let verified = selection::verified(&kernel)?;
            for arch in [Arch::V79, Arch::V81] {
                for shape in SHAPES {
                    let axes: Vec<u32> = kernel.axes.iter().zip(shape).map(|(_, extent)| extent).collect();
                    let plan = plan::solve(&verified, arch, &axes, arch.vtcm_bytes())?;
                    if !self.json {
                        println!("{plan}");
                    }
                    checked.push(json::plan(&plan));
                }
            }
        }
        if self.json {
            json::print(&json!({ "broken_rules": 0, "plans": checked }));
        } else {
            println!("{} kernels break no rule; {} plans made", library::all().len(), checked.len());
        }
        Ok(())
    }
}
