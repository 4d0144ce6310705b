//! `require EXPRESSION;`: a condition on tile sizes, checked here and compiled to checked arithmetic on `u64`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{BinOp, Expr, ExprBinary, ExprMethodCall, Lit, UnOp, spanned::Spanned};

use crate::tree::Kernel;

/// The VTCM a plan is made for, in bytes.
const VTCM_BYTES: &str = "vtcm_bytes";

/// What a name in a requirement stands for, by its index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    Tunable(usize),
    Axis(usize),
    VtcmBytes,
}

/// A requirement whose names and types are right.
pub(crate) struct Compiled {
    /// As it would be written by hand.
    pub text: String,
    /// What it depends on, in the order of `locals`.
    pub uses: Vec<Quantity>,
    /// The locals `value` reads.
    pub locals: Vec<Ident>,
    /// An expression of type `bool` that leaves its function with `None` where arithmetic has no value.
    pub value: TokenStream,
}

/// Checks and compiles a condition.
///
/// # Errors
/// A name that is no quantity, an operator or method that is not understood, or a number where a condition belongs.
pub(crate) fn compile(kernel: &Kernel, condition: &Expr) -> syn::Result<Compiled> {
    let mut compiler = Compiler { kernel, uses: Vec::new(), locals: Vec::new() };
    let term = compiler.term(condition)?;
    if term.kind != Kind::Condition {
        return Err(syn::Error::new(
            condition.span(),
            format!("`require {}` is a number: compare it, as in `{} <= 4096`", term.text, term.text),
        ));
    }
    if compiler.uses.is_empty() {
        return Err(syn::Error::new(
            condition.span(),
            "this requirement depends on nothing: name a tunable, an axis or `vtcm_bytes`",
        ));
    }
    Ok(Compiled { text: term.text, uses: compiler.uses, locals: compiler.locals, value: term.value })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Condition,
}

struct Term {
    kind: Kind,
    text: String,
    value: TokenStream,
}

struct Compiler<'k> {
    kernel: &'k Kernel,
    uses: Vec<Quantity>,
    locals: Vec<Ident>,
}

impl Compiler<'_> {
    fn term(&mut self, expression: &Expr) -> syn::Result<Term> {
        match expression {
            Expr::Paren(inner) => {
                let term = self.term(&inner.expr)?;
                Ok(Term { text: format!("({})", term.text), ..term })
            }
            Expr::Group(inner) => self.term(&inner.expr),
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) if matches!(number.suffix(), "" | "u64") => {
                    let value: u64 = number.base10_parse()?;
                    Ok(Term { kind: Kind::Number, text: value.to_string(), value: quote!(#value) })
                }
                other => Err(syn::Error::new(
                    other.span(),
                    "a requirement counts in whole numbers: write a share as a quotient, `vtcm_bytes / 2`",
                )),
            },
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.name(name),
                None => Err(syn::Error::new(path.span(), self.expected("a path"))),
            },
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let term = self.of(&unary.expr, Kind::Condition)?;
                let (text, value) = (term.text, term.value);
                Ok(Term { kind: Kind::Condition, text: format!("!{text}"), value: quote!(!(#value)) })
            }
            Expr::Binary(binary) => self.binary(binary),
            Expr::MethodCall(call) => self.method(call),
            other => Err(syn::Error::new(
                other.span(),
                "a requirement is made of comparisons, `+ - * / %`, `&& || !`, parentheses and the methods \
                 `is_multiple_of`, `is_power_of_two`, `min`, `max` and `div_ceil`",
            )),
        }
    }

    fn of(&mut self, expression: &Expr, kind: Kind) -> syn::Result<Term> {
        let term = self.term(expression)?;
        if term.kind == kind {
            return Ok(term);
        }
        let wanted = if kind == Kind::Number { "a number" } else { "a comparison" };
        Err(syn::Error::new(expression.span(), format!("`{}` stands where {wanted} belongs", term.text)))
    }

    fn name(&mut self, name: &Ident) -> syn::Result<Term> {
        let kernel = self.kernel;
        let tunable = kernel.tunables.iter().position(|t| t.name == *name).map(Quantity::Tunable);
        let axis = kernel.axes.iter().position(|a| a.name == *name).map(Quantity::Axis);
        let vtcm = (name == VTCM_BYTES).then_some(Quantity::VtcmBytes);
        let Some(quantity) = tunable.or(axis).or(vtcm) else {
            let mut message = format!("unknown name `{name}`: {}", self.expected("this"));
            if let Some((_, place)) = kernel.elsewhere.iter().find(|(other, _)| other == name) {
                message = format!(
                    "`{name}` is declared only {place}: put this `require` there, or declare it in the other branch too"
                );
            }
            return Err(syn::Error::new(name.span(), message));
        };
        let index = self.uses.iter().position(|q| *q == quantity).unwrap_or_else(|| {
            self.uses.push(quantity);
            self.locals.push(Ident::new(&name.to_string(), Span::mixed_site()));
            self.uses.len() - 1
        });
        let local = &self.locals[index];
        Ok(Term { kind: Kind::Number, text: name.to_string(), value: quote!(#local) })
    }

    /// What a name may be.
    fn expected(&self, what: &str) -> String {
        let tunables = self.kernel.tunables.iter().map(|t| format!("`{}`", t.name)).collect::<Vec<_>>().join(", ");
        let axes = self.kernel.axes.iter().map(|a| format!("`{}`", a.name)).collect::<Vec<_>>().join(", ");
        format!("{what} is no tunable ({tunables}), no axis ({axes}) and not `{VTCM_BYTES}`")
    }

    fn binary(&mut self, binary: &ExprBinary) -> syn::Result<Term> {
        let checked = |method: &str| Some(Ident::new(method, Span::call_site()));
        let (operands, kind, method) = match binary.op {
            BinOp::Add(_) => (Kind::Number, Kind::Number, checked("checked_add")),
            BinOp::Sub(_) => (Kind::Number, Kind::Number, checked("checked_sub")),
            BinOp::Mul(_) => (Kind::Number, Kind::Number, checked("checked_mul")),
            BinOp::Div(_) => (Kind::Number, Kind::Number, checked("checked_div")),
            BinOp::Rem(_) => (Kind::Number, Kind::Number, checked("checked_rem")),
            BinOp::And(_) | BinOp::Or(_) => (Kind::Condition, Kind::Condition, None),
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                (Kind::Number, Kind::Condition, None)
            }
            other => {
                return Err(syn::Error::new(
                    other.span(),
                    "this operator has no place in a requirement: it takes `+ - * / %`, comparisons, `&&` and `||`",
                ));
            }
        };
        let (left, right) = (self.of(&binary.left, operands)?, self.of(&binary.right, operands)?);
        let op = &binary.op;
        let text = format!("{} {} {}", left.text, quote!(#op), right.text);
        let (left, right) = (left.value, right.value);
        let value = match method {
            Some(method) => quote!(u64::#method(#left, #right)?),
            None => quote!((#left) #op (#right)),
        };
        Ok(Term { kind, text, value })
    }

    fn method(&mut self, call: &ExprMethodCall) -> syn::Result<Term> {
        let name = call.method.to_string();
        let (arguments, kind) = match name.as_str() {
            "is_power_of_two" => (0, Kind::Condition),
            "is_multiple_of" => (1, Kind::Condition),
            "min" | "max" | "div_ceil" => (1, Kind::Number),
            _ => {
                return Err(syn::Error::new(
                    call.method.span(),
                    format!(
                        "unknown method `{name}`: a requirement knows `is_multiple_of`, `is_power_of_two`, `min`, `max` \
                         and `div_ceil`"
                    ),
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
        let (method, receiver) = (&call.method, receiver.value);
        let value = match argument.map(|a| a.value) {
            None => quote!(u64::#method(#receiver)),
            // Division by zero has no value, whatever it is written as.
            Some(divisor) if name == "div_ceil" => {
                quote!(u64::div_ceil(#receiver, (#divisor != 0).then_some(#divisor)?))
            }
            Some(argument) if name == "is_multiple_of" => quote!(u64::is_multiple_of(#receiver, #argument)),
            Some(argument) => quote!(::core::cmp::Ord::#method(#receiver, #argument)),
        };
        Ok(Term { kind, text, value })
    }
}
