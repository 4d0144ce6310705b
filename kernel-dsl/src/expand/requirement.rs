//! A requirement as a `kernel_gen` value.

use proc_macro2::TokenStream;
use quote::quote;

use super::source;
use crate::{
    requirement::{Quantity, compile},
    tree::{Kernel, Requirement},
};

/// `None` for a requirement the checks have refused.
pub(super) fn requirement(kernel: &Kernel, requirement: &Requirement) -> Option<TokenStream> {
    let compiled = compile(kernel, &requirement.condition).ok()?;
    let source = source(requirement.keyword.span());
    let uses = compiled.uses.iter().map(|quantity| match quantity {
        Quantity::Tunable(index) => quote!(ir::Quantity::Tunable(ir::TunableId(#index))),
        Quantity::Axis(index) => quote!(ir::Quantity::Axis(ir::AxisId(#index))),
        Quantity::VtcmBytes => quote!(ir::Quantity::VtcmBytes),
    });
    let (text, locals, value) = (&compiled.text, &compiled.locals, &compiled.value);
    Some(quote!(ir::Requirement {
        text: #text.into(),
        uses: ::std::vec![#(#uses),*],
        holds: {
            #[allow(unused_parens, clippy::all)]
            fn holds(values: &[u64]) -> ::core::option::Option<bool> {
                let [#(#locals),*] = *values else {
                    return ::core::option::Option::None;
                };
                ::core::option::Option::Some(#value)
            }
            ir::Condition::new(holds)
        },
        source: #source,
    }))
}
