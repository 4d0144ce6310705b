//! Roles and layouts: each step gets what it can take.

mod fill;
mod multiply;
mod unpack;

use proc_macro2::Ident;

use super::{Placed, View};
use crate::{
    report::Report,
    tree::{Element, Operand, OperandLayout, OperandRole, Scope, StepKind, Window, WindowLayout},
};

pub(super) fn check(view: &View<'_>, report: &mut Report) {
    for operand in &view.kernel.operands {
        scope(operand, report);
    }
    for placed in &view.steps {
        let mut step = Checker { view, placed, report };
        // Which loops walk an operand that belongs elsewhere says nothing.
        if !step.operand() {
            continue;
        }
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

    /// The operand of a load or a pack, if it is one the step can take.
    fn operand(&mut self) -> bool {
        let (verb, from, wanted) = match &self.placed.step.kind {
            StepKind::Load { from, .. } => ("reads", from, OperandRole::Weight),
            StepKind::Pack { from, .. } => ("packs", from, OperandRole::Activation),
            _ => return true,
        };
        let Some(operand) = self.view.operand(&from.operand) else {
            return true;
        };
        let packs_other = wanted == OperandRole::Activation
            && (operand.role != OperandRole::Activation || operand.layout != OperandLayout::RowMajor);
        let what = match operand.role {
            OperandRole::Output => "the output",
            _ if !packs_other => return true,
            OperandRole::Weight => "the weight",
            OperandRole::Column => "a vector",
            OperandRole::Activation => "not `row_major`",
        };
        let declared = self.view.kernel.operands.iter().find(|o| o.role == wanted).map(|o| format!(", `{}`", o.name));
        let declared = declared.unwrap_or_default();
        let keyword = self.keyword();
        let message = match (operand.role, wanted) {
            (OperandRole::Output, OperandRole::Weight) => format!(
                "`load` {verb} `{}`, {what}, which is only written: partial sums are added by `unpack … +=`; load the \
                 weight{declared}",
                operand.name
            ),
            (OperandRole::Activation, _) => {
                format!("`{keyword}` {verb} rows of f32, bf16 or f16, and `{}` is {what}: declare it so", operand.name)
            }
            (OperandRole::Weight, _) => format!(
                "`{keyword}` {verb} token rows, `{}` is {what}: `load` it, or pack the activation{declared}",
                operand.name
            ),
            _ => format!("`{keyword}` {verb} token rows, `{}` is {what}: pack the activation{declared}", operand.name),
        };
        self.report.error(from.operand.span(), message);
        false
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
