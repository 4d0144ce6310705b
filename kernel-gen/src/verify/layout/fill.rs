//! Steps that fill a window from an operand or from another window.

use super::Step;
use crate::{
    ir::{
        AxisId, BlockFormat, Element, HvxStepId, OperandId, OperandLayout, OperandRole, Pairs, StepInput, StepKind,
        TileFormat, WindowId, WindowLayout,
    },
    verify::Rule,
};

impl Step<'_, '_> {
    pub(super) fn load(&mut self, window: WindowId, operand: OperandId, block: [AxisId; 2]) {
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
            (OperandLayout::Blocks(format), _) => WindowLayout::Blocks(format),
            (OperandLayout::RowMajor, Element::F16) => WindowLayout::RowMajor,
            (OperandLayout::RowMajor | OperandLayout::Vector, _) => {
                self.error(
                    Rule::Layout,
                    format!("`load` cannot bring {} rows of `{}` into VTCM", source.element.name(), source.name),
                    match source.role {
                        OperandRole::Weight => {
                            "a weight is loaded as f16 rows, declared `f16 row_major`, or as packed tiles: convert it when the \
                             model is prepared"
                                .into()
                        }
                        OperandRole::Column => "a vector is taken by an unpack".into(),
                        _ => "token rows are converted on their way in, by `pack_rows` or `pack_cols`".into(),
                    },
                );
                return;
            }
        };
        if self.layout(window, &[wanted], "fill") {
            self.axes(window, block);
        }
    }

    pub(super) fn pack(&mut self, window: WindowId, operand: OperandId, block: [AxisId; 2], pair: AxisId) {
        let source = &self.view.kernel.operands[operand.0];
        if source.role != OperandRole::Activation || source.layout != OperandLayout::RowMajor {
            self.error(
                Rule::Role,
                format!("`{}` takes rows of an activation, `{}` is something else", self.keyword(), source.name),
                "load weights; pack x or dy".into(),
            );
        }
        if self.layout(window, &[WindowLayout::ActivationTiles, WindowLayout::WeightTiles], "fill") {
            self.tiles(window, block, pair);
        }
    }

    pub(super) fn convert(&mut self, to: WindowId, from: WindowId, layout: WindowLayout, pair: usize) {
        let readable = self.layout(from, &[layout], "read");
        let writable = self.layout(to, &[WindowLayout::ActivationTiles, WindowLayout::WeightTiles], "fill");
        if let (true, true, Some(axes)) = (readable, writable, self.view.axes(from)) {
            self.tiles(to, axes, axes[pair]);
        }
    }

    pub(super) fn dequantise(&mut self, to: WindowId, from: WindowId) {
        let layout = self.view.kernel.windows[from.0].layout;
        match layout {
            WindowLayout::Tiles(TileFormat { dequantise: None, name, .. }) => self.error(
                Rule::Layout,
                format!("`dequantise` does not know the tiles of `{}`, {name}", self.view.window_name(from)),
                format!(
                    "it knows {}, {} and {}; apply a step of your own to others",
                    TileFormat::Q8_0.name,
                    TileFormat::Q4_0.name,
                    BlockFormat::Q8_0.name
                ),
            ),
            WindowLayout::Tiles(_) | WindowLayout::Blocks(_) => self.convert(to, from, layout, 1),
            _ => {
                let [q8, q4] = [TileFormat::Q8_0, TileFormat::Q4_0].map(WindowLayout::Tiles);
                self.layout(from, &[q8, q4, WindowLayout::Blocks(BlockFormat::Q8_0)], "read");
            }
        }
    }

    pub(super) fn apply(&mut self, step: HvxStepId, to: WindowId, from: WindowId) {
        let declared = &self.view.kernel.steps[step.0];
        let (name, held) = (&declared.name, self.view.kernel.windows[from.0].layout);
        let reads = match declared.input {
            StepInput::Packed(format, _) if held != WindowLayout::Tiles(format) => Some(format.name),
            StepInput::Rows(_) if held != WindowLayout::RowMajor => Some("f16_rows"),
            StepInput::F16 if !matches!(held, WindowLayout::ActivationTiles | WindowLayout::WeightTiles) => {
                Some("f16_tiles")
            }
            _ => None,
        };
        if let Some(reads) = reads {
            let write = match held {
                WindowLayout::Tiles(format) => {
                    format!("write it for them, `step {name}: {} -> f16_tiles pairs(…)`, or ", format.name)
                }
                WindowLayout::RowMajor => {
                    format!("write it for them, `step {name}: f16_rows -> f16_tiles pairs(…)`, or ")
                }
                _ => String::new(),
            };
            let load = match declared.input {
                StepInput::Packed(..) => format!("load an operand in `{reads}` into a window of them"),
                StepInput::Rows(_) => "load an operand `f16 row_major` into a window `row_major f16`".into(),
                StepInput::F16 => "make FP16 tiles first, by `dequantise` or another step".into(),
            };
            let window = self.view.window_name(from);
            let message = format!("step `{name}` reads {reads}, window `{window}` holds {}", held.keyword());
            self.error(Rule::Layout, message, format!("{write}{load}"));
            return;
        }
        match declared.input {
            StepInput::Packed(format, pairs) => {
                self.convert(to, from, WindowLayout::Tiles(format), if pairs == Pairs::Rows { 0 } else { 1 });
            }
            StepInput::Rows(pairs) => {
                self.convert(to, from, WindowLayout::RowMajor, if pairs == Pairs::Rows { 0 } else { 1 });
            }
            StepInput::F16 => {
                let tiles = [WindowLayout::ActivationTiles, WindowLayout::WeightTiles];
                let (readable, writable) = (self.layout(from, &tiles, "read"), self.layout(to, &tiles, "fill"));
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
}
