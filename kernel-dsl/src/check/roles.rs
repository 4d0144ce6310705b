//! Roles and layouts: each step gets what it can take.

use proc_macro2::{Ident, Span};

use super::{Placed, View};
use crate::{
    report::Report,
    tree::{
        Block, BlockFormat, Conversion, Element, Operand, OperandLayout, OperandRole, Scope, Side, StepInput, StepKind,
        TileFormat, Unpack, Window, WindowLayout,
    },
};

pub(super) fn check(view: &View<'_>, report: &mut Report) {
    for operand in &view.kernel.operands {
        scope(operand, report);
    }
    for placed in &view.steps {
        let mut step = Checker { view, placed, report };
        let sound = step.block();
        match &placed.step.kind {
            StepKind::Load { to, from } => step.load(to, from, sound),
            StepKind::Pack { side, to, from, .. } => step.pack(*side, to, from),
            StepKind::Convert { conversion, to, from } => step.convert(conversion, to, from),
            StepKind::Multiply { to, data, weights, swap } => step.multiply(to, data, weights, *swap),
            StepKind::Unpack(unpack) => step.unpack(unpack),
        }
    }
}

fn scope(operand: &Operand, report: &mut Report) {
    let resident = matches!(operand.role, OperandRole::Weight | OperandRole::Column);
    if resident != (operand.scope == Scope::DdrResident) {
        let wanted = if resident { "ddr_resident" } else { "ddr_stream" };
        report.error(
            operand.scope_span,
            format!(
                "operand `{}` must be in `{wanted}`: weights stay mapped, token rows come with each request",
                operand.name
            ),
        );
    }
    let vector = operand.layout == OperandLayout::Vector;
    if vector != (operand.role == OperandRole::Column) || (vector && operand.element != Element::F32) {
        report.error(
            operand.name.span(),
            format!(
                "operand `{}`: a vector has role `column` and f32 elements, write `column f32 vector[AXIS]`; \
                 nothing else has this role",
                operand.name
            ),
        );
    }
}

struct Checker<'a, 'k> {
    view: &'a View<'k>,
    placed: &'a Placed<'k>,
    report: &'a mut Report,
}

impl<'k> Checker<'_, 'k> {
    fn keyword(&self) -> String {
        self.placed.step.keyword.to_string()
    }

    /// `w[no, ko]`: the loops must walk the operand's axes, in its order.
    fn block(&mut self) -> bool {
        let Some(block) = self.placed.step.kind.block() else {
            return true;
        };
        let Some(operand) = self.view.operand(&block.operand) else {
            return false;
        };
        let mut sound = true;
        for (variable, axis) in block.variables.iter().zip(&operand.axes) {
            let walked = self.placed.axis(variable).filter(|walked| self.view.declares(walked));
            if walked.is_some_and(|walked| walked != axis) {
                sound = false;
                self.report.error(
                    variable.span(),
                    format!("`{variable}` walks axis `{}`, operand `{}` has axis `{axis}` here: name the loop over `{axis}`", walked.map_or(String::new(), |w| w.to_string()), operand.name),
                );
            }
        }
        sound
    }

    fn load(&mut self, to: &Ident, from: &Block, sound: bool) {
        let Some(operand) = self.view.operand(&from.operand) else {
            return;
        };
        if operand.role == OperandRole::Output {
            self.report.error(
                from.operand.span(),
                format!(
                    "`load` reads the output `{}`: partial sums are added by `unpack … +=`; load a weight",
                    operand.name
                ),
            );
            return;
        }
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
                            "a weight is loaded as f16 rows or packed tiles"
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

    fn pack(&mut self, side: Side, to: &Ident, from: &Block) {
        let Some(operand) = self.view.operand(&from.operand) else {
            return;
        };
        if operand.role != OperandRole::Activation || operand.layout != OperandLayout::RowMajor {
            self.report.error(
                from.operand.span(),
                format!(
                    "`{}` packs rows of an activation, `{}` is something else: load weights, pack token rows",
                    self.keyword(),
                    operand.name
                ),
            );
        }
        let pair = if side == Side::Rows { 0 } else { 1 };
        self.tiles(to, [&operand.axes[0], &operand.axes[1]], pair);
    }

    fn convert(&mut self, conversion: &Conversion, to: &Ident, from: &Ident) {
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

    fn multiply(&mut self, to: &Ident, data: &Ident, weights: &Ident, swap: bool) {
        if self.origin(data) == Some(OperandRole::Weight) && self.origin(weights) == Some(OperandRole::Activation) {
            let order = if swap { format!("swap({weights}, {data})") } else { format!("{weights} * {data}") };
            self.report.error(
                data.span(),
                format!(
                    "`{data}` is made from the weight, `{weights}` from token rows: data comes first, write `{order}`"
                ),
            );
            return;
        }
        let roles = [WindowLayout::ActivationTiles, WindowLayout::WeightTiles];
        let [data_role, weights_role] = if swap { [&roles[1], &roles[0]] } else { [&roles[0], &roles[1]] };
        let mut right = true;
        let layout = |name: &Ident| self.view.window(name).map(|window| &window.layout);
        let exchanged = layout(data) == Some(weights_role) && layout(weights) == Some(data_role);
        for (name, wanted) in [(data, data_role), (weights, weights_role)] {
            let Some(window) = self.view.window(name) else {
                continue;
            };
            if window.layout != *wanted {
                right = false;
                self.report.error(name.span(), role_message(window, wanted, exchanged.then_some(swap)));
            }
        }
        for (name, wanted, what) in
            [(data, OperandRole::Activation, "token rows"), (weights, OperandRole::Weight, "a weight")]
        {
            if right && self.origin(name).is_some_and(|role| role != wanted) {
                self.report.error(
                    name.span(),
                    format!("`{name}` does not hold {what}: write the data first, then the weights"),
                );
            }
        }
        let Some(out) = self.window(to, &[WindowLayout::OutputTiles], "fill") else {
            return;
        };
        if right {
            self.product(out, data, weights, swap, to.span());
        }
    }

    fn product(&mut self, out: &Window, data: &Ident, weights: &Ident, swap: bool, span: Span) {
        let (rows, cols) = if swap { (weights, data) } else { (data, weights) };
        let axes = |name: &Ident| self.view.window(name).and_then(|w| self.view.axes(w));
        let (Some([row, run]), Some([col, other_run]), Some(own)) = (axes(rows), axes(cols), self.view.axes(out))
        else {
            return;
        };
        let contracted = self.view.kernel.contracted.as_ref();
        if let Some(contracted) = contracted.filter(|c| *c != run && run == other_run) {
            self.report.error(
                weights.span(),
                format!(
                    "this multiply sums over axis `{run}`, which is not the one declared `contracted`, `{contracted}`: \
                     exchange the roles in `axes`, or the extents of the windows"
                ),
            );
        } else if run != other_run {
            self.report.error(
                weights.span(),
                format!("`{rows}` is summed over axis `{run}`, `{cols}` over `{other_run}`: the second extent of both is the contraction"),
            );
        } else if own != [row, col] {
            self.report.error(
                span,
                format!("this product has axes [{row}, {col}], window `{}` holds [{}, {}]", out.name, own[0], own[1]),
            );
        }
    }

    /// Role of the operand a window is made from.
    fn origin(&self, window: &Ident) -> Option<OperandRole> {
        match &self.view.first_writer(window)?.step.kind {
            StepKind::Load { from, .. } | StepKind::Pack { from, .. } => {
                self.view.operand(&from.operand).map(|o| o.role)
            }
            _ => None,
        }
    }

    fn unpack(&mut self, unpack: &Unpack) {
        let Unpack { side, to, from, .. } = unpack;
        let side = *side;
        if let Some(operand) = self.view.operand(&to.operand) {
            for name in unpack.vectors() {
                let columns = &operand.axes[1];
                let sound = |v: &Operand| v.layout == OperandLayout::Vector && v.axes[1] == *columns;
                if self.view.operand(name).is_some_and(|v| !sound(v)) {
                    self.report.error(
                        name.span(),
                        format!(
                            "`{name}` must be a vector along `{columns}`, the columns of `{}`: \
                             `operand {name}: column f32 vector[{columns}] in ddr_resident;`",
                            operand.name
                        ),
                    );
                }
            }
            if operand.role != OperandRole::Output || operand.element != Element::F32 {
                let is = if operand.role == OperandRole::Output {
                    "is not: partial sums are added in f32, declare it `f32 row_major`"
                } else {
                    "is read-only: write to an operand of role `output`"
                };
                self.report.error(
                    to.operand.span(),
                    format!("`{}` writes f32 rows of an output, `{}` {is}", self.keyword(), operand.name),
                );
                return;
            }
            let Some(window) = self.window(from, &[WindowLayout::OutputTiles], "read") else {
                return;
            };
            let Some(own) = self.view.axes(window) else {
                return;
            };
            let axes = [&operand.axes[0], &operand.axes[1]];
            let wanted = if side == Side::Rows { axes } else { [axes[1], axes[0]] };
            if own == wanted {
                return;
            }
            let message = if own == [wanted[1], wanted[0]] {
                let other = if side == Side::Rows { "unpack_cols" } else { "unpack_rows" };
                format!("`{from}` holds rows of `{}` and columns of `{}`: use `{other}`", own[0], own[1])
            } else {
                format!(
                    "`{from}` holds axes [{}, {}], `{}` has [{}, {}]",
                    own[0], own[1], operand.name, axes[0], axes[1]
                )
            };
            self.report.error(from.span(), message);
        }
    }

    /// The window, if its layout is one the step takes.
    fn window(&mut self, name: &Ident, wanted: &[WindowLayout], verb: &str) -> Option<&'k Window> {
        let window = self.view.window(name)?;
        if wanted.contains(&window.layout) {
            return Some(window);
        }
        let list: Vec<_> = wanted.iter().map(|l| format!("`{}`", l.keyword())).collect();
        self.report.error(
            name.span(),
            format!(
                "`{}` cannot {verb} `{name}`, a window of `{}`: it takes {}",
                self.keyword(),
                window.layout.keyword(),
                list.join(" or ")
            ),
        );
        None
    }
}

/// The other layout HMX multiplies.
fn other_role(layout: &WindowLayout) -> WindowLayout {
    if *layout == WindowLayout::ActivationTiles { WindowLayout::WeightTiles } else { WindowLayout::ActivationTiles }
}

/// `exchanged`: the other operand is in the wrong role as well, in a multiply with or without `swap`.
fn role_message(window: &Window, wanted: &WindowLayout, exchanged: Option<bool>) -> String {
    let way_out = match (&window.layout, exchanged) {
        (_, Some(true)) => "write `DATA * WEIGHTS` without `swap`".into(),
        (_, Some(false)) => "write `swap(DATA, WEIGHTS)`".into(),
        (WindowLayout::ActivationTiles | WindowLayout::WeightTiles, None) => {
            format!("declare it `{}`", wanted.keyword())
        }
        _ => "convert it to HMX tiles first".into(),
    };
    format!(
        "this operand of the multiply must be `{}`, window `{}` is `{}`: {way_out}",
        wanted.keyword(),
        window.name,
        window.layout.keyword()
    )
}
