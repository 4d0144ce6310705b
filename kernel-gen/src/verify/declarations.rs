//! Roles, memory scopes and layouts of operands and windows.

use super::{Diagnostic, Rule, view::View};
use crate::ir::{Element, Operand, OperandLayout, OperandRole, Scope, WindowLayout};

pub(super) fn check(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for operand in &view.kernel.operands {
        declaration(operand, found);
    }
    for window in &view.kernel.windows {
        let fits = (window.layout == WindowLayout::Q8Tiles) == (window.element == Element::Q8_0)
            && window.element != Element::F32;
        if !fits {
            found.push(Diagnostic::new(
                Rule::Layout,
                window.source,
                format!("window `{}` cannot hold {:?} as {}", window.name, window.element, window.layout.keyword()),
                "tiles and rows in VTCM are f16; q8_0_tiles are their own element type",
            ));
        }
    }
}

fn declaration(operand: &Operand, found: &mut Vec<Diagnostic>) {
    let scope = match operand.role {
        OperandRole::Weight => Scope::DdrResident,
        OperandRole::Activation | OperandRole::Output => Scope::DdrStream,
    };
    if operand.scope != scope {
        found.push(Diagnostic::new(
            Rule::Role,
            operand.source,
            format!("operand `{}` is in the wrong memory scope", operand.name),
            "weights are `in ddr_resident` (frozen, mapped once), token rows `in ddr_stream`",
        ));
    }
    if (operand.layout == OperandLayout::Q8Tiles) != (operand.element == Element::Q8_0) {
        found.push(Diagnostic::new(
            Rule::Layout,
            operand.source,
            format!("operand `{}` cannot hold {:?} in this layout", operand.name, operand.element),
            "q8_0_tiles are their own element type; row_major takes f32 or f16",
        ));
    }
    if operand.axes[0] == operand.axes[1] {
        found.push(Diagnostic::new(
            Rule::Axes,
            operand.source,
            format!("operand `{}` has the same axis for rows and columns", operand.name),
            "name two axes",
        ));
    }
}
