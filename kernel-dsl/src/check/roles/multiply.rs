//! The multiply: who is data, who is weight, and what is summed over.

use proc_macro2::{Ident, Span};

use super::Checker;
use crate::tree::{Operand, OperandRole, StepKind, Window, WindowLayout};

impl Checker<'_, '_> {
    pub(super) fn multiply(&mut self, to: &Ident, data: &Ident, weights: &Ident, swap: bool) {
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
            let message = if right { self.other_origin(name, wanted, what) } else { None };
            if let Some(message) = message {
                self.report.error(name.span(), message);
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

    /// What to say of a window if it is made from an operand of the other role.
    fn other_origin(&self, name: &Ident, wanted: OperandRole, what: &str) -> Option<String> {
        let source = self.source(name).filter(|source| source.role != wanted)?;
        let (role, place, example) = match wanted {
            OperandRole::Weight => ("weight", "second", "q8_0_tiles[ROWS, COLUMNS] in ddr_resident"),
            _ => ("activation", "first", "f32 row_major[ROWS, COLUMNS] in ddr_stream"),
        };
        let holds =
            format!("the {place} operand of a multiply holds {what}, and `{name}` is made from `{}`", source.name);
        let declared: Vec<_> = self.view.kernel.operands.iter().filter(|o| o.role == wanted).collect();
        Some(match declared.as_slice() {
            [] => {
                let [rows, columns] = &source.axes;
                let example = example.replace("ROWS", &rows.to_string()).replace("COLUMNS", &columns.to_string());
                format!(
                    "{holds}: this kernel declares no {role}; make `{}` one: `operand {0}: {role} {example};`",
                    source.name
                )
            }
            [one, ..] => format!("{holds}: make it from the {role}, `{}`", one.name),
        })
    }

    /// The operand a window is made from, unless the step that takes it has an error for it.
    fn source(&self, window: &Ident) -> Option<&Operand> {
        let (from, packed) = match &self.view.first_writer(window)?.step.kind {
            StepKind::Load { from, .. } => (from, false),
            StepKind::Pack { from, .. } => (from, true),
            _ => return None,
        };
        let operand = self.view.operand(&from.operand)?;
        let taken = if packed { operand.role == OperandRole::Activation } else { operand.role != OperandRole::Output };
        taken.then_some(operand)
    }

    /// Role of the operand a window is made from.
    fn origin(&self, window: &Ident) -> Option<OperandRole> {
        self.source(window).map(|operand| operand.role)
    }
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
