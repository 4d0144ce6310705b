//! Roles, memory scopes and layouts of operands and windows.

use super::{Diagnostic, Rule, view::View};
use crate::ir::{
    BlockFormat, Element, Operand, OperandLayout, OperandRole, Scope, Source, TileFormat, VECTOR_BYTES, WindowLayout,
};

pub(super) fn check(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for operand in &view.kernel.operands {
        declaration(operand, found);
    }
    for window in &view.kernel.windows {
        let packed = matches!(window.layout, WindowLayout::Tiles(_) | WindowLayout::Blocks(_));
        let fits = window.element == if packed { Element::Packed } else { Element::F16 };
        if let WindowLayout::Tiles(format) = window.layout {
            tile_format(&window.name, format, window.source, found);
        }
        if let WindowLayout::Blocks(format) = window.layout {
            block_format(&window.name, format, window.source, found);
        }
        if !fits {
            found.push(Diagnostic::new(
                Rule::Layout,
                window.source,
                format!(
                    "window `{}` cannot hold {} as {}",
                    window.name,
                    window.element.name(),
                    window.layout.keyword()
                ),
                match (packed, window.element) {
                    (true, _) => "packed tiles and blocks are their own element type: leave it out",
                    (false, Element::Packed) => "tiles and rows in VTCM are f16: declare it so",
                    (false, _) => {
                        "HMX multiplies FP16: declare it f16; `pack_rows` and `pack_cols` turn f32 and bf16 token rows into it"
                    }
                },
            ));
        }
    }
}

fn declaration(operand: &Operand, found: &mut Vec<Diagnostic>) {
    let scope = match operand.role {
        OperandRole::Weight | OperandRole::Column => Scope::DdrResident,
        OperandRole::Activation | OperandRole::Output => Scope::DdrStream,
    };
    if operand.scope != scope {
        found.push(Diagnostic::new(
            Rule::Role,
            operand.source,
            format!("operand `{}` is in the wrong memory scope", operand.name),
            "weights and column vectors are `in ddr_resident` (frozen, mapped once), token rows `in ddr_stream`",
        ));
    }
    let vector = operand.layout == OperandLayout::Vector;
    if vector != (operand.role == OperandRole::Column) {
        found.push(Diagnostic::new(
            Rule::Role,
            operand.source,
            format!("operand `{}` is a matrix in the role of a vector, or a vector in that of a matrix", operand.name),
            "a vector has role `column`: one f32 for each column of the output",
        ));
    }
    if let OperandLayout::Tiles(format) = operand.layout {
        tile_format(&operand.name, format, operand.source, found);
    }
    if let OperandLayout::Blocks(format) = operand.layout {
        block_format(&operand.name, format, operand.source, found);
    }
    let packed = matches!(operand.layout, OperandLayout::Tiles(_) | OperandLayout::Blocks(_));
    if packed != (operand.element == Element::Packed) || (vector && operand.element != Element::F32) {
        found.push(Diagnostic::new(
            Rule::Layout,
            operand.source,
            format!("operand `{}` cannot hold {} in this layout", operand.name, operand.element.name()),
            "packed tiles and blocks are their own element type; row_major takes f32, f16 or bf16, a vector f32",
        ));
    }
    if (operand.axes[0] == operand.axes[1]) != vector {
        found.push(Diagnostic::new(
            Rule::Axes,
            operand.source,
            format!("operand `{}` has the same axis for rows and columns", operand.name),
            "name two axes; only a vector runs along one",
        ));
    }
}

/// Tiles in VTCM must start at vectors and not overlap.
pub(super) fn tile_format(name: &str, format: TileFormat, source: Source, found: &mut Vec<Diagnostic>) {
    let TileFormat { bytes, stride, .. } = format;
    if bytes == 0 || stride < bytes || !stride.is_multiple_of(VECTOR_BYTES) {
        found.push(Diagnostic::new(
            Rule::Layout,
            source,
            format!("`{name}`: {} are {bytes} bytes, {stride} bytes apart in VTCM", format.name),
            format!(
                "take a stride that is a multiple of {VECTOR_BYTES} and at least the bytes of a tile, which are not 0"
            ),
        ));
    }
}

/// The device layer knows what lies in a block of a format it comes with, and no other.
fn block_format(name: &str, format: BlockFormat, source: Source, found: &mut Vec<Diagnostic>) {
    if format != BlockFormat::Q8_0 {
        let BlockFormat { name: known, bytes, .. } = BlockFormat::Q8_0;
        found.push(Diagnostic::new(
            Rule::Layout,
            source,
            format!("`{name}`: the device layer knows no blocks `{}` of {} bytes", format.name, format.bytes),
            format!("take {known} ({bytes} bytes for 32 elements), or pack tiles of a layout of your own"),
        ));
    }
}
