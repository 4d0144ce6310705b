//! The reference closure as a function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::tree::{Kernel, OperandLayout};

/// The reference closure as a function. Axes and operands become methods of its first argument: `c.k()`, `c.x(i, k)`.
pub(super) fn reference(kernel: &Kernel) -> Option<TokenStream> {
    let closure = kernel.reference.as_ref()?;
    let extents = kernel.axes.iter().enumerate().map(|(index, axis)| {
        let name = &axis.name;
        quote! {
            #[allow(dead_code)]
            fn #name(&self) -> usize { self.0.extent(#index) }
        }
    });
    let elements = kernel.operands.iter().enumerate().map(|(index, operand)| {
        let name = &operand.name;
        if operand.layout == OperandLayout::Vector {
            return quote! {
                #[allow(dead_code)]
                #[inline]
                #[track_caller]
                fn #name(&self, j: usize) -> f64 { self.0.element(#index, 0, j) }
            };
        }
        quote! {
            #[allow(dead_code)]
            #[inline]
            #[track_caller]
            fn #name(&self, i: usize, j: usize) -> f64 { self.0.element(#index, i, j) }
        }
    });
    let (case, i, j) = (&closure.inputs[0], &closure.inputs[1], &closure.inputs[2]);
    let body = &closure.body;
    let mixed = Span::mixed_site();
    let [inner, row, col] = ["inner", "row", "col"].map(|name| Ident::new(name, mixed));
    Some(quote! {{
        struct Case<'a>(&'a ir::ReferenceCase<'a>);
        impl Case<'_> {
            #(#extents)*
            #(#elements)*
        }
        fn element(#inner: &ir::ReferenceCase<'_>, #row: usize, #col: usize) -> f64 {
            let (#case, #i, #j) = (Case(#inner), #row, #col);
            #body
        }
        ir::Reference::new(element)
    }})
}
