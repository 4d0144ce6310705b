//! `permafrost kernel check`

use clap::Args;
use kernel_gen::ir::{Kernel, OperandLayout, TILE};
use kernel_gen::{Arch, plan};
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
        let kernels = selection::every();
        for kernel in &kernels {
            let verified = selection::verified(kernel)?;
            for arch in [Arch::V79, Arch::V81] {
                for shape in SHAPES {
                    let axes = extents(kernel, shape);
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
            println!("{} kernels break no rule; {} plans made", kernels.len(), checked.len());
        }
        Ok(())
    }
}

/// The shape for this kernel: whole blocks along the columns of an operand in blocks.
fn extents(kernel: &Kernel, shape: [u32; 3]) -> Vec<u32> {
    let in_blocks = |axis: usize| {
        kernel.operands.iter().any(|o| matches!(o.layout, OperandLayout::Blocks(_)) && o.axes[1].0 == axis)
    };
    let extent = |(axis, extent): (usize, u32)| if in_blocks(axis) { extent.next_multiple_of(TILE) } else { extent };
    shape.into_iter().take(kernel.axes.len()).enumerate().map(extent).collect()
}
