//! The unpack: the product, the output and the vectors along its columns.

use super::Checker;
use crate::tree::{Element, Operand, OperandLayout, OperandRole, Side, Unpack, WindowLayout};

impl Checker<'_, '_> {
    pub(super) fn unpack(&mut self, unpack: &Unpack) {
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
}
