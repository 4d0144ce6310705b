//! Steps that fill a window from an operand or from another window.

use proc_macro2::Ident;

use super::Checker;
use crate::tree::{
    Block, BlockFormat, Conversion, Element, HvxStep, OperandLayout, OperandRole, Side, StepInput, TileFormat,
    WindowLayout,
};

impl Checker<'_, '_> {
    pub(super) fn load(&mut self, to: &Ident, from: &Block, sound: bool) {
        let Some(operand) = self.view.operand(&from.operand) else {
            return;
        };
        let wanted = match (&operand.layout, operand.element) {
            (OperandLayout::Tiles(format), _) => WindowLayout::Tiles(format.clone()),
            (OperandLayout::Blocks(format), _) => WindowLayout::Blocks(*format),
            (OperandLayout::RowMajor, Element::F16) => WindowLayout::RowMajor,
            (OperandLayout::Vector, _) => {
                self.report.error(
                    from.operand.span(),
                    format!("`{}` is a vector: an unpack takes it, as `column_scale` or `column_bias`", operand.name),
                );
                return;
            }
            (OperandLayout::RowMajor, _) => {
                self.report.error(
                    from.operand.span(),
                    format!(
                        "`{}` holds {} rows: {}",
                        operand.name,
                        if operand.element == Element::Bf16 { "bf16" } else { "f32" },
                        if operand.role == OperandRole::Weight {
                            "a weight is loaded as f16 rows, declared `f16 row_major`, or as packed tiles; convert it when \
                             the model is prepared"
                        } else {
                            "they are converted on their way in, by `pack_rows` or `pack_cols`"
                        }
                    ),
                );
                return;
            }
        };
        let Some(window) = self.window(to, &[wanted], "fill") else {
            return;
        };
        let Some(own) = self.view.axes(window) else {
            return;
        };
        let axes = [&operand.axes[0], &operand.axes[1]];
        if own == axes || !sound {
            return;
        }
        let way_out = if own == [axes[1], axes[0]] {
            format!("declare it `[{}, {}]`", window.extents[1], window.extents[0])
        } else {
            "its extents are the tiles of the operand's axes, in their order".into()
        };
        self.report.error(
            to.span(),
            format!(
                "window `{to}` holds axes [{}, {}], `load` fills it with [{}, {}] of `{}`: {way_out}",
                own[0], own[1], axes[0], axes[1], operand.name
            ),
        );
    }

    pub(super) fn pack(&mut self, side: Side, to: &Ident, from: &Block) {
        let Some(operand) = self.view.operand(&from.operand) else {
            return;
        };
        let pair = if side == Side::Rows { 0 } else { 1 };
        self.tiles(to, [&operand.axes[0], &operand.axes[1]], pair);
    }

    pub(super) fn convert(&mut self, conversion: &Conversion, to: &Ident, from: &Ident) {
        let (layouts, pair) = match conversion {
            Conversion::InterleavePairs => (vec![WindowLayout::RowMajor], 0),
            Conversion::ScatterWords => (vec![WindowLayout::RowMajor], 1),
            Conversion::Dequantise => {
                let tiles = TileFormat::known().into_iter().map(WindowLayout::Tiles);
                (tiles.chain(BlockFormat::ALL.map(WindowLayout::Blocks)).collect(), 1)
            }
            Conversion::Apply(name) => {
                let Some(step) = self.view.kernel.steps.iter().find(|s| s.name == *name) else {
                    return;
                };
                if let Some(message) = self.other_input(step, from) {
                    self.report.error(from.span(), message);
                    return;
                }
                match &step.input {
                    StepInput::Packed(format, side) => {
                        (vec![WindowLayout::Tiles(format.clone())], if *side == Side::Rows { 0 } else { 1 })
                    }
                    StepInput::Rows(side) => (vec![WindowLayout::RowMajor], if *side == Side::Rows { 0 } else { 1 }),
                    StepInput::F16 => {
                        let tiles = vec![WindowLayout::ActivationTiles, WindowLayout::WeightTiles];
                        // The pair index stays where it is in the source.
                        let weight = self.view.window(from).is_some_and(|w| w.layout == WindowLayout::WeightTiles);
                        (tiles, usize::from(weight))
                    }
                }
            }
        };
        let Some(source) = self.window(from, &layouts, "read") else {
            return;
        };
        let Some(axes) = self.view.sound_axes(source) else {
            return;
        };
        self.tiles(to, axes, pair);
    }

    /// What to say of a step of the author's that reads something else than the window holds.
    fn other_input(&self, step: &HvxStep, from: &Ident) -> Option<String> {
        let (name, held) = (&step.name, &self.view.window(from)?.layout);
        let (reads, way_out) = match &step.input {
            StepInput::Packed(format, _) if *held != WindowLayout::Tiles(format.clone()) => {
                (format.name.as_str(), format!("load an operand in `{}` into a window of them", format.name))
            }
            StepInput::Rows(_) if *held != WindowLayout::RowMajor => {
                ("f16_rows", "load an operand `f16 row_major` into a window `row_major f16`".into())
            }
            StepInput::F16 if !matches!(held, WindowLayout::ActivationTiles | WindowLayout::WeightTiles) => {
                ("f16_tiles", "make FP16 tiles first, by `dequantise` or another step".into())
            }
            _ => return None,
        };
        let own = match held {
            WindowLayout::Tiles(format) => Some(format.name.as_str()),
            WindowLayout::RowMajor => Some("f16_rows"),
            _ => None,
        };
        let own = own
            .map_or(String::new(), |own| format!("write it for them, `step {name}: {own} -> f16_tiles pairs(…)`, or "));
        let held = held.keyword();
        Some(format!("step `{name}` reads `{reads}`, window `{from}` holds `{held}`: {own}{way_out}"))
    }

    /// The window must be HMX tiles whose pair index runs along `axes[pair]`.
    fn tiles(&mut self, to: &Ident, axes: [&Ident; 2], pair: usize) {
        let roles = [WindowLayout::ActivationTiles, WindowLayout::WeightTiles];
        let Some(window) = self.window(to, &roles, "fill") else {
            return;
        };
        let Some(own) = self.view.axes(window) else {
            return;
        };
        if own != axes && own != [axes[1], axes[0]] {
            self.report.error(
                to.span(),
                format!(
                    "window `{to}` holds axes [{}, {}], `{}` fills it with [{}, {}]",
                    own[0],
                    own[1],
                    self.keyword(),
                    axes[0],
                    axes[1]
                ),
            );
            return;
        }
        let pairs = if window.layout == WindowLayout::ActivationTiles { own[0] } else { own[1] };
        if pairs != axes[pair] {
            let keyword = self.keyword();
            let other = match keyword.as_str() {
                "pack_rows" => "use `pack_cols`".into(),
                "pack_cols" => "use `pack_rows`".into(),
                "interleave_pairs" => "use `scatter_words`".into(),
                "scatter_words" => "use `interleave_pairs`".into(),
                _ => {
                    let step = if keyword == "apply" { ", or apply a step that pairs along the other" } else { "" };
                    let role = other_role(&window.layout);
                    format!(
                        "declare it `{}` to sum over `{}`, or exchange its extents to sum over `{}`{step}",
                        role.keyword(),
                        own[1],
                        own[0]
                    )
                }
            };
            self.report.error(
                to.span(),
                format!(
                    "`{keyword}` makes tiles that pair along axis `{}`, window `{to}` ({}) pairs along `{pairs}`: {other}",
                    axes[pair],
                    window.layout.keyword()
                ),
            );
        }
    }
}

/// The other layout HMX multiplies.
fn other_role(layout: &WindowLayout) -> WindowLayout {
    if *layout == WindowLayout::ActivationTiles { WindowLayout::WeightTiles } else { WindowLayout::ActivationTiles }
}
