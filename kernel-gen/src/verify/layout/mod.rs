//! Roles and layouts of steps: each gets what it can take.

mod fill;
mod multiply;

use super::{Diagnostic, Rule, placed::Placed, view::View};
use crate::ir::{AxisId, Element, OperandId, OperandLayout, OperandRole, StepKind, WindowId, WindowLayout};

pub(super) fn check(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for placed in &view.steps {
        Step { view, placed, found }.check();
    }
}

struct Step<'a, 'k> {
    view: &'a View<'k>,
    placed: &'a Placed<'k>,
    found: &'a mut Vec<Diagnostic>,
}

impl Step<'_, '_> {
    fn check(mut self) {
        if let Some((operand, block)) = self.placed.step.kind.operand() {
            self.block(operand, block);
            for vector in self.placed.step.kind.vectors() {
                self.vector(vector, block[1]);
            }
        }
        match self.placed.step.kind {
            StepKind::Load { window, operand, block } => self.load(window, operand, block),
            StepKind::PackRows { window, operand, block, .. } => self.pack(window, operand, block, block[0]),
            StepKind::PackCols { window, operand, block, .. } => self.pack(window, operand, block, block[1]),
            StepKind::InterleavePairs { to, from } => self.convert(to, from, WindowLayout::RowMajor, 0),
            StepKind::ScatterWords { to, from } => self.convert(to, from, WindowLayout::RowMajor, 1),
            StepKind::Dequantise { to, from } => self.dequantise(to, from),
            StepKind::Apply { step, to, from } => self.apply(step, to, from),
            StepKind::Multiply { to, data, weights, swap } => self.multiply(to, data, weights, swap),
            StepKind::UnpackRows { operand, block, window, .. } => self.unpack(operand, block, window, block),
            StepKind::UnpackCols { operand, block, window, .. } => {
                self.unpack(operand, block, window, [block[1], block[0]]);
            }
        }
    }

    fn error(&mut self, rule: Rule, message: String, help: String) {
        self.found.push(Diagnostic::new(rule, self.placed.step.source, message, help));
    }

    fn keyword(&self) -> &'static str {
        self.placed.step.kind.keyword()
    }

    fn block(&mut self, operand: OperandId, block: [AxisId; 2]) {
        let operand = &self.view.kernel.operands[operand.0];
        if operand.axes != block {
            let [rows, cols] = operand.axes.map(|a| self.view.axis_name(a));
            let [given_rows, given_cols] = block.map(|a| self.view.axis_name(a));
            self.error(
                Rule::Layout,
                format!("a block of `{}` [{rows}, {cols}] is selected by [{given_rows}, {given_cols}]", operand.name),
                format!("name the loops over `{rows}` and `{cols}`, in this order"),
            );
        }
    }

    /// A vector of column factors runs along the columns of the block.
    fn vector(&mut self, vector: OperandId, columns: AxisId) {
        let operand = &self.view.kernel.operands[vector.0];
        if operand.layout != OperandLayout::Vector || operand.axes[1] != columns {
            let axis = self.view.axis_name(columns);
            self.error(
                Rule::Layout,
                format!("`{}` is not a vector along axis `{axis}`, the columns written here", operand.name),
                format!("declare it as `operand {}: column f32 vector[{axis}] in ddr_resident;`", operand.name),
            );
        }
    }

    fn layout(&mut self, window: WindowId, wanted: &[WindowLayout], what: &str) -> bool {
        let declared = &self.view.kernel.windows[window.0];
        if wanted.contains(&declared.layout) {
            return true;
        }
        let list: Vec<_> = wanted.iter().map(|l| format!("`{}`", l.keyword())).collect();
        self.error(
            Rule::Layout,
            format!(
                "`{}` cannot {what} `{}`, a window of {}",
                self.keyword(),
                declared.name,
                declared.layout.keyword()
            ),
            format!("declare the window as {}, or take another step", list.join(" or ")),
        );
        false
    }

    /// Both windows or blocks must hold the same part of the same axes.
    fn axes(&mut self, window: WindowId, wanted: [AxisId; 2]) {
        let Some(axes) = self.view.axes(window) else {
            return;
        };
        if axes != wanted {
            let [rows, cols] = axes.map(|a| self.view.axis_name(a));
            let [wanted_rows, wanted_cols] = wanted.map(|a| self.view.axis_name(a));
            self.error(
                Rule::Layout,
                format!(
                    "window `{}` holds axes [{rows}, {cols}], `{}` needs [{wanted_rows}, {wanted_cols}]",
                    self.view.window_name(window),
                    self.keyword()
                ),
                "declare the window with the tiles of these axes, in this order".into(),
            );
        }
    }

    fn unpack(&mut self, operand: OperandId, _block: [AxisId; 2], window: WindowId, wanted: [AxisId; 2]) {
        let target = &self.view.kernel.operands[operand.0];
        if target.role != OperandRole::Output || target.element != Element::F32 {
            self.error(
                Rule::Role,
                format!("`{}` writes f32 rows of an output, `{}` is something else", self.keyword(), target.name),
                if target.role == OperandRole::Output {
                    "partial sums are added in f32: declare the output `f32 row_major`".into()
                } else {
                    "frozen weights and inputs are read-only".into()
                },
            );
        }
        if !self.layout(window, &[WindowLayout::OutputTiles], "read") {
            return;
        }
        let Some(axes) = self.view.axes(window) else {
            return;
        };
        if axes != wanted && axes == [wanted[1], wanted[0]] {
            let other = if matches!(self.placed.step.kind, StepKind::UnpackRows { .. }) {
                "unpack_cols"
            } else {
                "unpack_rows"
            };
            self.error(
                Rule::Layout,
                format!("`{}` reads `{}` the wrong way round", self.keyword(), self.view.window_name(window)),
                format!("a `swap` gives transposed tiles: use `{other}`"),
            );
        } else {
            self.axes(window, wanted);
        }
    }
}
