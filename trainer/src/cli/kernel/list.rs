//! `permafrost kernel list`

use clap::Args;
use kernel_gen::ir::{Candidates, Element, Kernel, Operand, OperandLayout, Tunable};
use serde_json::{Value, json};

use super::{KernelError, json, selection};

/// Flags of `permafrost kernel list`.
#[derive(Args, Debug)]
pub(super) struct ListArgs {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    /// Prints the kernels.
    pub fn run(self) -> Result<(), KernelError> {
        let kernels = selection::every();
        if self.json {
            json::print(&kernels.iter().map(describe).collect());
            return Ok(());
        }
        for kernel in &kernels {
            outln!("{:<26} {}", kernel.name, kernel.doc.first().map_or("", |line| line.trim()));
            outln!("  axes     {}", join(kernel.axes.iter().map(|a| format!("{} ({:?})", a.name, a.role))));
            parts(kernel);
            for variant in &kernel.variants {
                outln!("  on {}", variant.arch);
                parts(&variant.kernel);
            }
            outln!("  source   {}", kernel.source);
        }
        Ok(())
    }
}

/// What may differ by architecture.
fn parts(kernel: &Kernel) {
    outln!("  operands {}", join((0..kernel.operands.len()).map(|index| operand(kernel, index))));
    outln!("  tunables {}", join(kernel.tunables.iter().map(tunable)));
    outln!("  windows  {}", join((0..kernel.windows.len()).map(|index| window(kernel, index))));
    for requirement in &kernel.requirements {
        outln!("  requires {}", requirement.text);
    }
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn operand(kernel: &Kernel, index: usize) -> String {
    let operand = &kernel.operands[index];
    let [rows, cols] = operand.axes.map(|a| kernel.axes[a.0].name.as_str());
    format!("{}[{rows}, {cols}] {}", operand.name, lies(operand))
}

/// Element and layout by the words of the language.
fn lies(operand: &Operand) -> String {
    let element = match operand.element {
        Element::Packed => String::new(),
        other => format!("{} ", other.name()),
    };
    let layout = match operand.layout {
        OperandLayout::RowMajor => "row_major",
        OperandLayout::Tiles(format) => format.name,
        OperandLayout::Blocks(format) => format.name,
        OperandLayout::Vector => "vector",
    };
    format!("{element}{layout}")
}

fn tunable(tunable: &Tunable) -> String {
    match &tunable.candidates {
        Candidates::List(values) => format!("{} in {values:?}", tunable.name),
        Candidates::Range { min, max } => {
            format!("{} in {min}..={max} by {}", tunable.name, tunable.granule())
        }
    }
}

fn window(kernel: &Kernel, index: usize) -> String {
    let window = &kernel.windows[index];
    let [rows, cols] = window.extents.map(|t| kernel.tunables[t.0].name.as_str());
    let stages = if window.stages > 1 { format!(" ×{}", window.stages) } else { String::new() };
    format!("{} {}[{rows}, {cols}]{stages}", window.name, window.layout.keyword())
}

fn describe(kernel: &Kernel) -> Value {
    json!({
        "name": kernel.name,
        "doc": kernel.doc.iter().map(|line| line.trim()).collect::<Vec<_>>(),
        "id": kernel.id(),
        "source": kernel.source.to_string(),
        "axes": kernel.axes.iter().map(|a| json!({ "name": a.name, "role": format!("{:?}", a.role) })).collect::<Vec<_>>(),
        "operands": kernel.operands.iter().map(|o| json!({
            "name": o.name, "role": format!("{:?}", o.role), "layout": lies(o), "axes": o.axes.map(|a| kernel.axes[a.0].name.clone()),
        })).collect::<Vec<_>>(),
        "tunables": kernel.tunables.iter().map(tunable).collect::<Vec<_>>(),
        "windows": (0..kernel.windows.len()).map(|index| window(kernel, index)).collect::<Vec<_>>(),
        "requirements": kernel.requirements.iter().map(|r| r.text.as_str()).collect::<Vec<_>>(),
        "variants": kernel.variants.iter().map(|v| json!({
            "arch": v.arch.to_string(), "kernel": describe(&v.kernel),
        })).collect::<Vec<_>>(),
    })
}
