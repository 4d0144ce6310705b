//! Layouts and steps of the author's as `kernel_gen` values.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::{doc_lines, source};
use crate::{
    body_text::keeps_lines,
    tree::{HvxStep, Kernel, Side, StepInput, TileFormat, TileKind},
};

pub(super) fn tile_format(format: &TileFormat) -> TokenStream {
    match format.kind {
        TileKind::Known(constant) => {
            let constant = Ident::new(constant, Span::call_site());
            quote!(ir::TileFormat::#constant)
        }
        TileKind::Own { bytes, stride } => {
            let name = &format.name;
            quote!(ir::TileFormat {
                name: #name,
                bytes: #bytes,
                stride: #stride,
                dequantise: ::core::option::Option::None,
            })
        }
    }
}

/// The author's steps that the schedule applies.
pub(super) fn applied(kernel: &Kernel) -> Vec<&HvxStep> {
    kernel.steps.iter().map(|s| &**s).filter(|step| kernel.applies(&step.name)).collect()
}

fn pairs(side: Side) -> TokenStream {
    match side {
        Side::Rows => quote!(ir::Pairs::Rows),
        Side::Cols => quote!(ir::Pairs::Cols),
    }
}

pub(super) fn hvx_step(step: &HvxStep) -> TokenStream {
    let (name, source) = (step.name.to_string(), source(step.name.span()));
    let doc = doc_lines(&step.docs);
    let body = &step.body;
    let body_source =
        if keeps_lines(body) { self::source(body.span()) } else { quote!(::core::default::Default::default()) };
    let input = match &step.input {
        StepInput::F16 => quote!(F16),
        StepInput::Packed(format, side) => {
            let (format, pairs) = (tile_format(format), pairs(*side));
            quote!(Packed(#format, #pairs))
        }
        StepInput::Rows(side) => {
            let pairs = pairs(*side);
            quote!(Rows(#pairs))
        }
    };
    let (tile, p, q) = (&step.reference.inputs[0], &step.reference.inputs[1], &step.reference.inputs[2]);
    let value = &step.reference.body;
    let mixed = Span::mixed_site();
    let [inner, row, col] = ["inner", "row", "col"].map(|name| Ident::new(name, mixed));
    quote!(ir::HvxStep {
        name: #name.into(),
        doc: ::std::vec![#(#doc.into()),*],
        input: ir::StepInput::#input,
        body: #body.into(),
        body_source: #body_source,
        reference: {
            fn element(#inner: &ir::InputTile<'_>, #row: usize, #col: usize) -> f64 {
                let (#tile, #p, #q) = (#inner, #row, #col);
                #value
            }
            ir::StepReference::new(element)
        },
        source: #source,
    })
}
