//! Roles and layouts of steps: each gets what it can take.

use super::{Diagnostic, Rule, placed::Placed, view::View};
use crate::ir::{
    AxisId, Element, HvxStepId, OperandId, OperandLayout, OperandRole, Pairs, StepInput, StepKind, TileFormat,
    WindowId, WindowLayout,
};

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
            format!("`{}` {what} `{}`, a window of {}", self.keyword(), declared.name, declared.layout.keyword()),
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

    fn load(&mut self, window: WindowId, operand: OperandId, block: [AxisId; 2]) {
        let source = &self.view.kernel.operands[operand.0];
        if source.role == OperandRole::Output {
            self.error(
                Rule::Role,
                format!("`load` reads the output `{}`", source.name),
                "partial sums are added by `unpack … +=`; load a weight".into(),
            );
        }
        let wanted = match (source.layout, source.element) {
            (OperandLayout::Tiles(format), _) => WindowLayout::Tiles(format),
            (OperandLayout::RowMajor, Element::F16) => WindowLayout::RowMajor,
            (OperandLayout::RowMajor | OperandLayout::Vector, _) => {
                self.error(
                    Rule::Layout,
                    format!("`load` cannot bring {} rows of `{}` into VTCM", source.element.name(), source.name),
                    match source.role {
                        OperandRole::Weight => "a weight is f16 rows or packed tiles".into(),
                        OperandRole::Column => "a vector is taken by an unpack".into(),
                        _ => "token rows are converted on their way in, by `pack_rows` or `pack_cols`".into(),
                    },
                );
                return;
            }
        };
        if self.layout(window, &[wanted], "fills") {
            self.axes(window, block);
        }
    }

    fn pack(&mut self, window: WindowId, operand: OperandId, block: [AxisId; 2], pair: AxisId) {
        let source = &self.view.kernel.operands[operand.0];
        if source.role != OperandRole::Activation || source.layout != OperandLayout::RowMajor {
            self.error(
                Rule::Role,
                format!("`{}` takes rows of an activation, `{}` is something else", self.keyword(), source.name),
                "load weights; pack x or dy".into(),
            );
        }
        if self.layout(window, &[WindowLayout::ActivationTiles, WindowLayout::WeightTiles], "fills") {
            self.tiles(window, block, pair);
        }
    }

    fn convert(&mut self, to: WindowId, from: WindowId, layout: WindowLayout, pair: usize) {
        let readable = self.layout(from, &[layout], "reads");
        let writable = self.layout(to, &[WindowLayout::ActivationTiles, WindowLayout::WeightTiles], "fills");
        if let (true, true, Some(axes)) = (readable, writable, self.view.axes(from)) {
            self.tiles(to, axes, axes[pair]);
        }
    }

    fn dequantise(&mut self, to: WindowId, from: WindowId) {
        let layout = self.view.kernel.windows[from.0].layout;
        match layout {
            WindowLayout::Tiles(TileFormat { dequantise: None, name, .. }) => self.error(
                Rule::Layout,
                format!("`dequantise` does not know the tiles of `{}`, {name}", self.view.window_name(from)),
                format!("it knows {} and {}", TileFormat::Q8_0.name, TileFormat::Q4_0.name),
            ),
            WindowLayout::Tiles(_) => self.convert(to, from, layout, 1),
            _ => {
                self.layout(from, &[TileFormat::Q8_0, TileFormat::Q4_0].map(WindowLayout::Tiles), "reads");
            }
        }
    }

    fn apply(&mut self, step: HvxStepId, to: WindowId, from: WindowId) {
        match self.view.kernel.steps[step.0].input {
            StepInput::Packed(format, pairs) => {
                self.convert(to, from, WindowLayout::Tiles(format), if pairs == Pairs::Rows { 0 } else { 1 });
            }
            StepInput::Rows(pairs) => {
                self.convert(to, from, WindowLayout::RowMajor, if pairs == Pairs::Rows { 0 } else { 1 });
            }
            StepInput::F16 => {
                let tiles = [WindowLayout::ActivationTiles, WindowLayout::WeightTiles];
                let (readable, writable) = (self.layout(from, &tiles, "reads"), self.layout(to, &tiles, "fills"));
                let (axes, pair) = (self.view.axes(from), self.view.pair_axis(from));
                if let (true, true, Some(axes), Some(pair)) = (readable, writable, axes, pair) {
                    self.tiles(to, axes, pair);
                }
            }
        }
    }

    /// A step that walks rows × columns of `source` makes tiles whose pair index runs along `pair`.
    fn tiles(&mut self, window: WindowId, source: [AxisId; 2], pair: AxisId) {
        let Some(axes) = self.view.axes(window) else {
            return;
        };
        let same = axes == source || axes == [source[1], source[0]];
        if !same {
            self.axes(window, source);
            return;
        }
        if self.view.pair_axis(window) == Some(pair) {
            return;
        }
        let name = self.view.window_name(window);
        let other = match self.placed.step.kind {
            StepKind::PackRows { .. } => "`pack_cols`",
            StepKind::PackCols { .. } => "`pack_rows`",
            StepKind::InterleavePairs { .. } => "`scatter_words`",
            StepKind::ScatterWords { .. } => "`interleave_pairs`",
            _ => "the other HMX role",
        };
        let axis = self.view.axis_name(pair);
        self.error(
            Rule::Layout,
            format!(
                "`{}` makes tiles whose pair index runs along axis `{axis}`; `{name}` is {} with another pair index",
                self.keyword(),
                self.view.kernel.windows[window.0].layout.keyword()
            ),
            format!(
                "use {other}, or swap the window's role: activation_tiles[p, contraction] pair along p, weight_tiles[column, p] along p"
            ),
        );
    }

    fn multiply(&mut self, to: WindowId, data: WindowId, weights: WindowId, swap: bool) {
        let roles = [WindowLayout::ActivationTiles, WindowLayout::WeightTiles];
        let [data_role, weights_role] = if swap { [roles[1], roles[0]] } else { roles };
        for (window, wanted, part) in [(data, data_role, "data"), (weights, weights_role, "weights")] {
            let declared = &self.view.kernel.windows[window.0];
            if declared.layout != wanted {
                let way_out = if declared.layout.is_hmx() && declared.layout != WindowLayout::OutputTiles {
                    if swap { "write `DATA * WEIGHTS` without `swap`, or" } else { "write `swap(DATA, WEIGHTS)`, or" }
                } else {
                    "convert it first, and"
                };
                self.error(
                    Rule::Role,
                    format!(
                        "the {part} of this multiply must be {}, `{}` is {}",
                        wanted.keyword(),
                        declared.name,
                        declared.layout.keyword()
                    ),
                    format!("{way_out} declare the window as `{}`", wanted.keyword()),
                );
                return;
            }
        }
        self.origins(data, weights);
        if !self.layout(to, &[WindowLayout::OutputTiles], "fills") {
            return;
        }
        let (activation, weight) = if swap { (weights, data) } else { (data, weights) };
        if let (Some([rows, run]), Some([cols, _])) = (self.view.axes(activation), self.view.axes(weight)) {
            if rows == cols || rows == run || cols == run {
                self.error(
                    Rule::Axes,
                    "a multiply needs three axes: rows, columns and the contraction".into(),
                    "the windows of data and weights share their second extent only".into(),
                );
            } else {
                self.axes(to, [rows, cols]);
            }
        }
    }

    fn origins(&mut self, data: WindowId, weights: WindowId) {
        for (window, wanted, what) in
            [(data, OperandRole::Activation, "token rows"), (weights, OperandRole::Weight, "a weight")]
        {
            if self.view.origin_role(window).is_some_and(|role| role != wanted) {
                self.error(
                    Rule::Role,
                    format!("`{}` does not hold {what}", self.view.window_name(window)),
                    "the first operand of a multiply is made from token rows, the second from the weight".into(),
                );
            }
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
        if !self.layout(window, &[WindowLayout::OutputTiles], "reads") {
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
