//! Requirements as `kernel_gen` values.

use proc_macro2::TokenStream;
use quote::quote;

use super::source;
use crate::{
    requirement::{Compiled, Quantity, Side, compile},
    tree::{Kernel, Requirement},
};

/// One for each condition between the `&&` of what was written; `None` for a requirement the checks have refused.
pub(super) fn requirements(kernel: &Kernel, requirement: &Requirement) -> Option<Vec<TokenStream>> {
    let source = source(requirement.keyword.span());
    let one = |compiled: &Compiled| {
        let uses = compiled.uses.iter().map(|quantity| match quantity {
            Quantity::Tunable(index) => quote!(ir::Quantity::Tunable(ir::TunableId(#index))),
            Quantity::Axis(index) => quote!(ir::Quantity::Axis(ir::AxisId(#index))),
            Quantity::VtcmBytes => quote!(ir::Quantity::VtcmBytes),
            Quantity::WindowBytes(index) => quote!(ir::Quantity::WindowBytes(ir::WindowId(#index))),
        });
        let (text, locals, value) = (&compiled.text, &compiled.locals, &compiled.value);
        let sides = match &compiled.sides {
            None => quote!(::core::option::Option::None),
            Some([Side { value: left, .. }, Side { value: right, .. }]) => quote!(::core::option::Option::Some({
                #[allow(unused_parens, unused_variables, clippy::all)]
                fn sides(values: &[u64]) -> [::core::option::Option<u64>; 2] {
                    let [#(#locals),*] = *values else {
                        return [::core::option::Option::None; 2];
                    };
                    [
                        (|| ::core::option::Option::Some(#left))(),
                        (|| ::core::option::Option::Some(#right))(),
                    ]
                }
                ir::Sides::new(sides)
            })),
        };
        quote!(ir::Requirement {
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
            sides: #sides,
            source: #source,
        })
    };
    Some(compile(kernel, &requirement.condition).ok()?.iter().map(one).collect())
}
