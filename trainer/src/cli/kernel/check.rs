//! `permafrost kernel check`

use clap::Args;
use kernel_gen::ir::{Kernel, OperandLayout, TILE};
use kernel_gen::{Arch, Verified, plan};
use serde_json::json;

use super::selection::{self, Generation};
use super::{KernelError, json};

/// Flags of `permafrost kernel check`.
#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    /// Kernels to check; all of the library if none is given.
    kernels: Vec<String>,
    /// NPU generation to plan for; each of them if not given.
    #[arg(long, value_enum)]
    arch: Option<Generation>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Shapes every kernel must have a plan for: one tile, an odd one, and a large projection at a large bucket.
const SHAPES: [[u32; 3]; 3] = [[32, 32, 32], [77, 1000, 333], [4096, 9728, 2560]];

impl CheckArgs {
    /// Verifies and plans the kernels.
    pub fn run(self) -> Result<(), KernelError> {
        let mut checked = Vec::new();
        let kernels: Vec<Verified> = match self.kernels.as_slice() {
            [] => selection::every().iter().map(selection::verified).collect::<Result<_, _>>()?,
            names => names.iter().map(|name| selection::kernel(name)).collect::<Result<_, _>>()?,
        };
        let architectures = self.arch.map_or(Arch::ALL.to_vec(), |arch| vec![arch.into()]);
        for verified in &kernels {
            for &arch in &architectures {
                for shape in SHAPES {
                    let axes = extents(verified.kernel(), shape);
                    let plan = plan::solve(verified, arch, &axes, arch.vtcm_bytes())?;
                    if !self.json {
                        outln!("{plan}");
                    }
                    checked.push(json::plan(&plan));
                }
            }
        }
        if self.json {
            json::print(&json!({ "broken_rules": 0, "plans": checked }));
        } else {
            outln!("{} kernels break no rule; {} plans made", kernels.len(), checked.len());
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
