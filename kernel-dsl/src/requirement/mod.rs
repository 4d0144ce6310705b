//! `require EXPRESSION;`: a condition on tile sizes, checked here and compiled to checked arithmetic on `u64`.

mod call;
mod compiler;
mod term;

use proc_macro2::{Ident, TokenStream};
use syn::{BinOp, Expr, spanned::Spanned};

use crate::tree::Kernel;
use compiler::Compiler;
pub(crate) use term::Side;
use term::{Judge, Kind};

/// The VTCM a plan is made for, in bytes.
const VTCM_BYTES: &str = "vtcm_bytes";
/// Bytes of all stages of a window: `window_bytes(wq)`.
const WINDOW_BYTES: &str = "window_bytes";

/// What a name in a requirement stands for, by its index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    Tunable(usize),
    Axis(usize),
    VtcmBytes,
    WindowBytes(usize),
}

/// A requirement whose names and types are right: a condition without `&&` around it.
pub(crate) struct Compiled {
    /// As it would be written by hand.
    pub text: String,
    /// What it depends on, in the order of `locals`.
    pub uses: Vec<Quantity>,
    /// The locals `value` reads.
    pub locals: Vec<Ident>,
    /// An expression of type `bool` that leaves its function with `None` where arithmetic has no value.
    pub value: TokenStream,
    /// The two sides of a comparison.
    pub sides: Option<[Side; 2]>,
    judge: Judge,
}

impl Compiled {
    /// Whether it holds for these values of `uses`; `None` where its arithmetic has no value.
    pub fn holds(&self, values: &[u64]) -> Option<bool> {
        (self.judge)(values).map(|flag| flag == 1)
    }
}

/// Checks and compiles a condition: what stands between its `&&` one by one, so that each can be blamed by itself.
///
/// # Errors
/// A name that is no quantity, an operator or method that is not understood, a number where a condition belongs, or a condition
/// that no tile size decides.
pub(crate) fn compile(kernel: &Kernel, condition: &Expr) -> syn::Result<Vec<Compiled>> {
    conjuncts(condition).into_iter().map(|one| conjunct(kernel, one)).collect()
}

fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    match condition {
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
            let mut all = conjuncts(&binary.left);
            all.extend(conjuncts(&binary.right));
            all
        }
        Expr::Group(inner) => conjuncts(&inner.expr),
        Expr::Paren(inner) => match conjuncts(&inner.expr) {
            inside if inside.len() > 1 => inside,
            _ => vec![condition],
        },
        _ => vec![condition],
    }
}

fn conjunct(kernel: &Kernel, condition: &Expr) -> syn::Result<Compiled> {
    let mut compiler = Compiler::new(kernel);
    let term = compiler.term(condition)?;
    let error = |message: String| Err(syn::Error::new(condition.span(), message));
    let text = &term.text;
    if term.kind != Kind::Condition {
        return error(format!("`require {text}` is a number: compare it, as in `{text} <= 4096`"));
    }
    if compiler.uses.is_empty() {
        let always = if (term.judge)(&[]) == Some(1) { "always" } else { "never" };
        return error(format!("`require {text}` {always} holds: name a tunable in it, or drop it"));
    }
    if !compiler.uses.iter().any(|q| matches!(q, Quantity::Tunable(_) | Quantity::WindowBytes(_))) {
        return error(format!(
            "`require {text}` depends on no tile size: a plan could not satisfy it by any choice, only refuse shapes; name a \
             tunable, or drop it"
        ));
    }
    let Compiler { uses, locals, .. } = compiler;
    Ok(Compiled { text: term.text, uses, locals, value: term.value, sides: term.sides, judge: term.judge })
}
