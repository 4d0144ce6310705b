//! Methods of numbers, and `window_bytes`.

use std::rc::Rc;

use quote::quote;
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath, spanned::Spanned};

use super::{
    Quantity, WINDOW_BYTES,
    compiler::{Compiler, MADE_OF, by_zero},
    term::{Judge, Kind, Term},
};
use crate::near::{nearest, way_out};

const METHODS: [&str; 5] = ["is_multiple_of", "is_power_of_two", "min", "max", "div_ceil"];
const KNOWN: &str = "a requirement knows `is_multiple_of`, `is_power_of_two`, `min`, `max` and `div_ceil`";

impl Compiler<'_> {
    pub(super) fn method(&mut self, call: &ExprMethodCall) -> syn::Result<Term> {
        let name = call.method.to_string();
        let (arguments, kind) = match name.as_str() {
            "is_power_of_two" => (0, Kind::Condition),
            "is_multiple_of" => (1, Kind::Condition),
            "min" | "max" | "div_ceil" => (1, Kind::Number),
            _ => {
                return Err(syn::Error::new(
                    call.method.span(),
                    format!("unknown method `{name}`: {}", way_out(&name, METHODS, KNOWN)),
                ));
            }
        };
        if call.args.len() != arguments {
            return Err(syn::Error::new(
                call.method.span(),
                format!("`{name}` takes {arguments} argument{}", if arguments == 1 { "" } else { "s" }),
            ));
        }
        let receiver = self.of(&call.receiver, Kind::Number)?;
        let argument = call.args.first().map(|a| self.of(a, Kind::Number)).transpose()?;
        let text = format!("{}.{name}({})", receiver.text, argument.as_ref().map_or("", |a| &a.text));
        if matches!(name.as_str(), "div_ceil" | "is_multiple_of") && argument.as_ref().is_some_and(Term::is_zero) {
            return Err(syn::Error::new(call.method.span(), by_zero(&text)));
        }
        let constant = receiver.constant && argument.as_ref().is_none_or(|a| a.constant);
        let (method, number, own) = (&call.method, receiver.value, receiver.judge);
        let Some(argument) = argument else {
            let judge: Judge = Rc::new(move |v| Some(own(v)?.is_power_of_two().into()));
            return Ok(Term::new(kind, text, quote!(u64::#method(#number)), constant, judge));
        };
        let (other, second) = (argument.value, argument.judge);
        let value = match name.as_str() {
            // Division by zero has no value, whatever it is written as.
            "div_ceil" => quote!(u64::div_ceil(#number, (#other != 0).then_some(#other)?)),
            "is_multiple_of" => quote!(u64::is_multiple_of(#number, #other)),
            _ => quote!(::core::cmp::Ord::#method(#number, #other)),
        };
        let judge: Judge = Rc::new(move |v| {
            let (a, b) = (own(v)?, second(v)?);
            match name.as_str() {
                "div_ceil" => (b != 0).then(|| a.div_ceil(b)),
                "is_multiple_of" => Some(a.is_multiple_of(b).into()),
                "min" => Some(a.min(b)),
                _ => Some(a.max(b)),
            }
        });
        Ok(Term::new(kind, text, value, constant, judge))
    }

    /// `window_bytes(wq)`; anything else that looks like a call is a method.
    pub(super) fn call(&mut self, call: &ExprCall) -> syn::Result<Term> {
        let word = |expression: &Expr| match expression {
            Expr::Path(ExprPath { path, .. }) => path.get_ident().cloned(),
            _ => None,
        };
        let arguments: Vec<_> = call.args.iter().collect();
        match (word(&call.func), arguments.as_slice()) {
            (Some(name), [argument]) if name == WINDOW_BYTES => {
                let Some(window) = word(argument) else {
                    return Err(syn::Error::new(argument.span(), format!("write `{WINDOW_BYTES}(WINDOW)`")));
                };
                let Some(index) = self.kernel.windows.iter().position(|w| w.name == window) else {
                    let elsewhere = self.kernel.elsewhere.iter().any(|(other, _)| *other == window);
                    if elsewhere {
                        return Err(self.unknown(&window));
                    }
                    let declared: Vec<_> = self.kernel.windows.iter().map(|w| format!("`{}`", w.name)).collect();
                    let declared = format!("declared: {}", declared.join(", "));
                    let known: Vec<_> = self.kernel.windows.iter().map(|w| w.name.to_string()).collect();
                    let way_out = way_out(&window.to_string(), known.iter().map(String::as_str), &declared);
                    let message = format!("unknown window `{window}`; {way_out}");
                    return Err(syn::Error::new(window.span(), message));
                };
                Ok(self.quantity(Quantity::WindowBytes(index), format!("{WINDOW_BYTES}({window})"), &window))
            }
            (Some(name), [receiver, argument])
                if ["min", "max", "div_ceil", "is_multiple_of"].iter().any(|m| name == m) =>
            {
                let (receiver, argument) = (quote!(#receiver), quote!(#argument));
                let way_out = format!("write `{receiver}.{name}({argument})`");
                Err(syn::Error::new(name.span(), format!("`{name}` is a method of a number: {way_out}")))
            }
            (Some(name), _) if nearest(&name.to_string(), [WINDOW_BYTES]).is_some_and(|meant| name != meant) => {
                Err(syn::Error::new(name.span(), format!("unknown name `{name}`: did you mean `{WINDOW_BYTES}`?")))
            }
            _ => Err(syn::Error::new(call.span(), MADE_OF)),
        }
    }
}
