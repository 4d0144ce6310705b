//! A step as it was written.

use super::Body;
use crate::{
    ir::{AxisId, OperandId, StepKind, WindowId},
    lower::{target, window_of},
};

impl Body<'_> {
    /// `step window` or the like, for traps.
    pub(super) fn label(&self) -> String {
        let (keyword, target) = (self.step.kind.keyword(), target(self.kernel(), self.step));
        match self.step.kind {
            StepKind::Apply { step, .. } => format!("{keyword} {} {target}", self.kernel().steps[step.0].name),
            _ => format!("{keyword} {target}"),
        }
    }

    /// The step as it was written, and where.
    pub(super) fn title(&self) -> String {
        let kernel = self.kernel();
        let window = |w: WindowId| window_of(kernel, w).name.as_str();
        let operand = |o: OperandId, b: [AxisId; 2]| {
            let [rows, cols] = b.map(|a| self.placed.loop_over(a).map_or("", |l| l.name.as_str()));
            format!("{}[{rows}, {cols}]", kernel.operands[o.0].name)
        };
        let factor = |directive: &str, vector: Option<OperandId>| {
            vector.map(|o| format!(" {directive}({})", kernel.operands[o.0].name)).unwrap_or_default()
        };
        let scaled = |on: bool| if on { " scale(row)" } else { "" };
        let text = match self.step.kind {
            StepKind::Load { window: w, operand: o, block } => format!("load {} <- {}", window(w), operand(o, block)),
            StepKind::PackRows { window: w, operand: o, block, scale }
            | StepKind::PackCols { window: w, operand: o, block, scale } => {
                format!("{} {} <- {}{}", self.step.kind.keyword(), window(w), operand(o, block), scaled(scale))
            }
            StepKind::InterleavePairs { to, from }
            | StepKind::ScatterWords { to, from }
            | StepKind::Dequantise { to, from } => {
                format!("{} {} <- {}", self.step.kind.keyword(), window(to), window(from))
            }
            StepKind::Apply { step, to, from } => {
                format!("apply {} {} <- {}", kernel.steps[step.0].name, window(to), window(from))
            }
            StepKind::Multiply { to, data, weights, swap } => {
                if swap {
                    format!("multiply {} <- swap({}, {})", window(to), window(data), window(weights))
                } else {
                    format!("multiply {} <- {} * {}", window(to), window(data), window(weights))
                }
            }
            StepKind::UnpackRows { operand: o, block, window: w, unscale, columns, guard }
            | StepKind::UnpackCols { operand: o, block, window: w, unscale, columns, guard } => format!(
                "{} {} += {}{}{}{}{}",
                self.step.kind.keyword(),
                operand(o, block),
                window(w),
                if unscale { " unscale(row)" } else { "" },
                factor("column_scale", columns.scale),
                factor("column_bias", columns.bias),
                guard.map(|g| format!(" guard({g})")).unwrap_or_default()
            ),
        };
        let split = self.step.split.map(|a| format!(" split({})", kernel.axes[a.0].name)).unwrap_or_default();
        format!("{}: {text}{split}", self.step.source)
    }
}
