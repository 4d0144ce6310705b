//! From an expression to a term.

use std::rc::Rc;

use proc_macro2::{Ident, Span};
use quote::quote;
use syn::{BinOp, Expr, ExprBinary, Lit, UnOp, spanned::Spanned};

use super::{
    Quantity, VTCM_BYTES, WINDOW_BYTES,
    term::{Judge, Kind, Side, Term},
};
use crate::{
    near::way_out,
    tree::{AxisRole, Kernel},
};

pub(super) const MADE_OF: &str = "a requirement is made of comparisons, `+ - * / %`, `&& || !`, parentheses, `window_bytes(WINDOW)` and the \
                       methods `is_multiple_of`, `is_power_of_two`, `min`, `max` and `div_ceil`";

pub(super) struct Compiler<'k> {
    pub kernel: &'k Kernel,
    pub uses: Vec<Quantity>,
    pub locals: Vec<Ident>,
}

impl<'k> Compiler<'k> {
    pub fn new(kernel: &'k Kernel) -> Self {
        Compiler { kernel, uses: Vec::new(), locals: Vec::new() }
    }

    pub fn term(&mut self, expression: &Expr) -> syn::Result<Term> {
        let refuse = |message: &str| Err(syn::Error::new(expression.span(), message));
        match expression {
            Expr::Paren(inner) => {
                let term = self.term(&inner.expr)?;
                Ok(Term { text: format!("({})", term.text), ..term })
            }
            Expr::Group(inner) => self.term(&inner.expr),
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) if matches!(number.suffix(), "" | "u64") => {
                    let value: u64 = number.base10_parse()?;
                    Ok(Term::new(Kind::Number, value.to_string(), quote!(#value), true, Rc::new(move |_| Some(value))))
                }
                Lit::Bool(flag) => {
                    let value = flag.value;
                    let judge: Judge = Rc::new(move |_| Some(value.into()));
                    Ok(Term::new(Kind::Condition, value.to_string(), quote!(#value), true, judge))
                }
                Lit::Float(_) => {
                    refuse("a requirement counts in whole numbers: write a share as a quotient, `vtcm_bytes / 2`")
                }
                _ => refuse(MADE_OF),
            },
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.name(name),
                None => Err(syn::Error::new(path.span(), self.expected("a path"))),
            },
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let Term { text, value, judge, constant, .. } = self.of(&unary.expr, Kind::Condition)?;
                let judge: Judge = Rc::new(move |values| judge(values).map(|flag| 1 - flag));
                Ok(Term::new(Kind::Condition, format!("!{text}"), quote!(!(#value)), constant, judge))
            }
            Expr::Binary(binary) => self.binary(binary),
            Expr::MethodCall(call) => self.method(call),
            Expr::Call(call) => self.call(call),
            Expr::Assign(assign) => Err(syn::Error::new(
                assign.eq_token.span,
                "`=` compares nothing: a requirement that two sides are equal is written `==`",
            )),
            _ => refuse(MADE_OF),
        }
    }

    pub(super) fn of(&mut self, expression: &Expr, kind: Kind) -> syn::Result<Term> {
        let term = self.term(expression)?;
        if term.kind == kind {
            return Ok(term);
        }
        let (is, wanted) =
            if kind == Kind::Number { ("a comparison", "a number") } else { ("a number", "a comparison") };
        Err(syn::Error::new(expression.span(), format!("`{}` is {is} where {wanted} belongs", term.text)))
    }

    fn name(&mut self, name: &Ident) -> syn::Result<Term> {
        let kernel = self.kernel;
        if kernel.axes.iter().any(|a| a.name == *name && a.role == AxisRole::Token) {
            return Err(syn::Error::new(
                name.span(),
                format!(
                    "`{name}` is the token axis, and tile sizes must not depend on how many tokens a request has room for: a \
                     row's bits are the same in every bucket; write the condition on the tile of `{name}`"
                ),
            ));
        }
        let tunable = kernel.tunables.iter().position(|t| t.name == *name).map(Quantity::Tunable);
        let axis = kernel.axes.iter().position(|a| a.name == *name).map(Quantity::Axis);
        let vtcm = (name == VTCM_BYTES).then_some(Quantity::VtcmBytes);
        match tunable.or(axis).or(vtcm) {
            Some(quantity) => Ok(self.quantity(quantity, name.to_string(), name)),
            None => Err(self.unknown(name)),
        }
    }

    /// A quantity as a local of its own.
    pub(super) fn quantity(&mut self, quantity: Quantity, text: String, local: &Ident) -> Term {
        let index = self.uses.iter().position(|q| *q == quantity).unwrap_or_else(|| {
            self.uses.push(quantity);
            self.locals.push(Ident::new(&format!("v{}_{local}", self.locals.len()), Span::mixed_site()));
            self.uses.len() - 1
        });
        let local = &self.locals[index];
        Term::new(Kind::Number, text, quote!(#local), false, Rc::new(move |values| values.get(index).copied()))
    }

    pub(super) fn unknown(&self, name: &Ident) -> syn::Error {
        let kernel = self.kernel;
        let known = kernel.tunables.iter().map(|t| &t.name);
        let known = known.chain(kernel.axes.iter().filter(|a| a.role != AxisRole::Token).map(|a| &a.name));
        let known: Vec<_> = known.map(Ident::to_string).chain([VTCM_BYTES.into()]).collect();
        let way_out = way_out(&name.to_string(), known.iter().map(String::as_str), &self.expected("this"));
        let mut message = format!("unknown name `{name}`: {way_out}");
        if let Some((_, place)) = self.kernel.elsewhere.iter().find(|(other, _)| other == name) {
            message = format!(
                "`{name}` is declared only {place}: put this `require` there, or declare it in the other branch too"
            );
        } else if self.kernel.windows.iter().any(|w| w.name == *name) {
            message = format!("`{name}` is a window: its bytes, all stages together, are `{WINDOW_BYTES}({name})`");
        }
        syn::Error::new(name.span(), message)
    }

    /// What a name may be.
    fn expected(&self, what: &str) -> String {
        let tunables = self.kernel.tunables.iter().map(|t| format!("`{}`", t.name)).collect::<Vec<_>>().join(", ");
        let axes = self.kernel.axes.iter().filter(|a| a.role != AxisRole::Token);
        let axes = axes.map(|a| format!("`{}`", a.name)).collect::<Vec<_>>().join(", ");
        format!("{what} is no tunable ({tunables}), no feature axis ({axes}) and not `{VTCM_BYTES}`")
    }

    fn binary(&mut self, binary: &ExprBinary) -> syn::Result<Term> {
        type Arithmetic = fn(u64, u64) -> Option<u64>;
        let (operands, method, arithmetic): (_, _, Arithmetic) = match binary.op {
            BinOp::Add(_) => (Kind::Number, Some("checked_add"), u64::checked_add),
            BinOp::Sub(_) => (Kind::Number, Some("checked_sub"), u64::checked_sub),
            BinOp::Mul(_) => (Kind::Number, Some("checked_mul"), u64::checked_mul),
            BinOp::Div(_) => (Kind::Number, Some("checked_div"), u64::checked_div),
            BinOp::Rem(_) => (Kind::Number, Some("checked_rem"), u64::checked_rem),
            BinOp::And(_) => (Kind::Condition, None, |a, b| Some(a & b)),
            BinOp::Or(_) => (Kind::Condition, None, |a, b| Some(a | b)),
            BinOp::Eq(_) => (Kind::Number, None, |a, b| Some((a == b).into())),
            BinOp::Ne(_) => (Kind::Number, None, |a, b| Some((a != b).into())),
            BinOp::Lt(_) => (Kind::Number, None, |a, b| Some((a < b).into())),
            BinOp::Le(_) => (Kind::Number, None, |a, b| Some((a <= b).into())),
            BinOp::Gt(_) => (Kind::Number, None, |a, b| Some((a > b).into())),
            BinOp::Ge(_) => (Kind::Number, None, |a, b| Some((a >= b).into())),
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
        if matches!(binary.op, BinOp::Div(_) | BinOp::Rem(_)) && right.is_zero() {
            return Err(syn::Error::new(op.span(), by_zero(&text)));
        }
        let constant = left.constant && right.constant;
        let (a, b) = (left.value, right.value);
        let (first, second) = (left.judge, right.judge);
        let sides = (operands == Kind::Number && method.is_none()).then(|| {
            [(&a, &first), (&b, &second)].map(|(value, judge)| Side { value: value.clone(), judge: judge.clone() })
        });
        let judge: Judge = match binary.op {
            // As in Rust the right side is not asked where the left one decides.
            BinOp::And(_) => Rc::new(move |v| if first(v)? == 0 { Some(0) } else { second(v) }),
            BinOp::Or(_) => Rc::new(move |v| if first(v)? == 1 { Some(1) } else { second(v) }),
            _ => Rc::new(move |v| arithmetic(first(v)?, second(v)?)),
        };
        if let Some(method) = method {
            let method = Ident::new(method, Span::call_site());
            return Ok(Term::new(Kind::Number, text, quote!(u64::#method(#a, #b)?), constant, judge));
        }
        Ok(Term { sides, ..Term::new(Kind::Condition, text, quote!((#a) #op (#b)), constant, judge) })
    }
}

pub(super) fn by_zero(text: &str) -> String {
    format!("`{text}` divides by zero, so this requirement never holds: divide by another number")
}
