//! Operands, tunables and windows as `kernel_gen` values.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Names, definition::tile_format, source};
use crate::tree::{
    BlockFormat, Candidates, Element, Kernel, Operand, OperandLayout, OperandRole, Scope, TileFormat, Tunable, Window,
    WindowLayout,
};

fn element(element: Element) -> TokenStream {
    match element {
        Element::F32 => quote!(ir::Element::F32),
        Element::F16 => quote!(ir::Element::F16),
        Element::Bf16 => quote!(ir::Element::Bf16),
        Element::Packed => quote!(ir::Element::Packed),
    }
}

/// `Tiles(format)` of an operand's or a window's layout.
fn tiles(format: &TileFormat) -> TokenStream {
    let format = tile_format(format);
    quote!(Tiles(#format))
}

/// `Blocks(format)` of an operand's or a window's layout.
fn blocks(format: BlockFormat) -> TokenStream {
    match format {
        BlockFormat::Q8_0 => quote!(Blocks(ir::BlockFormat::Q8_0)),
    }
}

pub(super) fn operands(names: &Names<'_>) -> Option<Vec<TokenStream>> {
    let one = |operand: &Operand| {
        let (name, source) = (operand.name.to_string(), source(operand.name.span()));
        let role = match operand.role {
            OperandRole::Activation => quote!(Activation),
            OperandRole::Weight => quote!(Weight),
            OperandRole::Column => quote!(Column),
            OperandRole::Output => quote!(Output),
        };
        let layout = match &operand.layout {
            OperandLayout::RowMajor => quote!(RowMajor),
            OperandLayout::Vector => quote!(Vector),
            OperandLayout::Tiles(format) => tiles(format),
            OperandLayout::Blocks(format) => blocks(*format),
        };
        let scope = match operand.scope {
            Scope::DdrResident => quote!(DdrResident),
            Scope::DdrStream => quote!(DdrStream),
        };
        let element = element(operand.element);
        let (rows, cols) = (names.axis(&operand.axes[0])?, names.axis(&operand.axes[1])?);
        Some(quote!(ir::Operand {
            name: #name.into(),
            role: ir::OperandRole::#role,
            element: #element,
            layout: ir::OperandLayout::#layout,
            axes: [#rows, #cols],
            scope: ir::Scope::#scope,
            source: #source,
        }))
    };
    names.kernel.operands.iter().map(one).collect()
}

pub(super) fn tunables(kernel: &Kernel) -> Vec<TokenStream> {
    let one = |tunable: &Tunable| {
        let (name, source) = (tunable.name.to_string(), source(tunable.name.span()));
        let multiple_of = tunable.multiple_of;
        let candidates = match &tunable.candidates {
            Candidates::List(values) => quote!(ir::Candidates::List(::std::vec![#(#values),*])),
            Candidates::Range(min, max) => quote!(ir::Candidates::Range { min: #min, max: #max }),
        };
        quote!(ir::Tunable {
            name: #name.into(),
            candidates: #candidates,
            multiple_of: #multiple_of,
            source: #source,
        })
    };
    kernel.tunables.iter().map(one).collect()
}

pub(super) fn windows(names: &Names<'_>) -> Option<Vec<TokenStream>> {
    let one = |window: &Window| {
        let (name, source) = (window.name.to_string(), source(window.name.span()));
        let layout = match &window.layout {
            WindowLayout::ActivationTiles => quote!(ActivationTiles),
            WindowLayout::WeightTiles => quote!(WeightTiles),
            WindowLayout::OutputTiles => quote!(OutputTiles),
            WindowLayout::RowMajor => quote!(RowMajor),
            WindowLayout::Tiles(format) => tiles(format),
            WindowLayout::Blocks(format) => blocks(*format),
        };
        let element = element(window.element);
        let (rows, cols) = (names.tunable(&window.extents[0])?, names.tunable(&window.extents[1])?);
        let stages = window.stages;
        Some(quote!(ir::Window {
            name: #name.into(),
            layout: ir::WindowLayout::#layout,
            element: #element,
            extents: [#rows, #cols],
            stages: #stages,
            source: #source,
        }))
    };
    names.kernel.windows.iter().map(one).collect()
}
