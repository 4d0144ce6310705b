//! `permafrost kernel diff`

use clap::Args;
use kernel_gen::cost::{Cost, Counts, Machine, cost, predict};
use kernel_gen::{Plan, Verified, emit_c};
use serde_json::json;
use similar::TextDiff;

use super::selection::{self, PlanArgs, Tile};
use super::{KernelError, json};

/// Flags of `permafrost kernel diff`.
#[derive(Args, Debug)]
pub(super) struct DiffArgs {
    /// Kernel.
    kernel: String,
    /// Kernel to compare it with; itself under other tile sizes if not given.
    other: Option<String>,
    #[command(flatten)]
    plan: PlanArgs,
    /// Tile sizes of the first in place of the planner's: NAME=VALUE,…
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    tiles: Vec<Tile>,
    /// Tile sizes of the second.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    other_tiles: Vec<Tile>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

struct Side {
    plan: Plan,
    cost: Cost,
    c: String,
}

impl Side {
    fn of(kernel: &Verified, plan: Plan) -> Side {
        let rows = 0..plan.axes.first().map_or(0, |tokens| tokens.extent);
        Side { cost: cost(kernel, &plan, rows), c: emit_c(kernel, plan.arch), plan }
    }
}

impl DiffArgs {
    /// Prints plans, counts and the difference of the emitted C.
    pub fn run(self) -> Result<(), KernelError> {
        if self.other.is_none() && self.tiles.is_empty() && self.other_tiles.is_empty() {
            return Err(KernelError::NothingToCompare { kernel: self.kernel });
        }
        let first = selection::kernel(&self.kernel)?;
        let second = selection::kernel(self.other.as_ref().unwrap_or(&self.kernel))?;
        let a = Side::of(&first, self.plan.plan(&first, &self.tiles)?);
        let b = Side::of(&second, self.plan.plan(&second, &self.other_tiles)?);
        let text = TextDiff::from_lines(&a.c, &b.c);
        let c = text.unified_diff().context_radius(2).header(&a.plan.kernel, &b.plan.kernel).to_string();
        if self.json {
            let side = |side: &Side| json!({ "plan": json::plan(&side.plan), "cost": json::cost(&side.cost) });
            json::print(&json!({ "first": side(&a), "second": side(&b), "c": c }));
            return Ok(());
        }
        outln!("- {}\n+ {}\n", a.plan, b.plan);
        counts(&a.cost.total, &b.cost.total);
        predictions(&a, &b);
        if c.is_empty() {
            outln!("\nThe emitted C is the same: tile sizes are fields of the plan.");
        } else {
            out!("\n{c}");
        }
        Ok(())
    }
}

fn counts(a: &Counts, b: &Counts) {
    outln!("{:<18} {:>16} {:>16} {:>9}", "counts (exact)", "first", "second", "change");
    let rows = [
        ("HMX packets", a.packets, b.packets),
        ("HMX tiles", a.tiles, b.tiles),
        ("HMX stores", a.stores, b.stores),
        ("DMA bytes", a.dma_bytes, b.dma_bytes),
        ("DMA descriptors", a.dma_descriptors, b.dma_descriptors),
        ("HVX strips", a.strips, b.strips),
        ("HVX strip tiles", a.strip_tiles, b.strip_tiles),
        ("row bytes read", a.row_bytes_read, b.row_bytes_read),
        ("row bytes written", a.row_bytes_written, b.row_bytes_written),
    ];
    for (name, a, b) in rows {
        outln!("{name:<18} {a:>16} {b:>16} {:>9}", change(a as f64, b as f64));
    }
}

fn predictions(a: &Side, b: &Side) {
    let [a, b] = [a, b].map(|side| predict(&side.cost, &Machine::of(side.plan.arch)));
    outln!("{:<18} {:>16} {:>16}", "predicted bound", a.bound, b.bound);
    let ms = |seconds: f64| format!("{:.3} ms", seconds * 1e3);
    for (name, a, b) in [
        ("predicted in order", a.in_order_seconds, b.in_order_seconds),
        ("predicted overlap", a.overlapped_seconds, b.overlapped_seconds),
    ] {
        outln!("{name:<18} {:>16} {:>16} {:>9}", ms(a), ms(b), change(a, b));
    }
}

fn change(a: f64, b: f64) -> String {
    if a == b {
        "=".to_owned()
    } else if a == 0.0 {
        "new".to_owned()
    } else {
        format!("{:+.1} %", (b - a) / a * 100.0)
    }
}
