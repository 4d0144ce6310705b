//! Parts of a requirement.

use std::rc::Rc;

use proc_macro2::TokenStream;

/// The value of a term for values of the quantities it depends on, a condition's as 0 or 1; `None` where arithmetic leaves
/// `u64` or divides by zero.
pub(crate) type Judge = Rc<dyn Fn(&[u64]) -> Option<u64>>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Condition,
}

pub(super) struct Term {
    pub kind: Kind,
    /// As it would be written by hand.
    pub text: String,
    /// As Rust.
    pub value: TokenStream,
    pub judge: Judge,
    /// Whether it names no quantity.
    pub constant: bool,
    /// The sides of a comparison.
    pub sides: Option<[Side; 2]>,
}

/// One side of a comparison.
#[derive(Clone)]
pub(crate) struct Side {
    /// As Rust, of type `u64`.
    pub value: TokenStream,
    pub judge: Judge,
}

impl Term {
    /// Without sides.
    pub fn new(kind: Kind, text: String, value: TokenStream, constant: bool, judge: Judge) -> Term {
        Term { kind, text, value, judge, constant, sides: None }
    }

    /// Whether it is 0, whatever is planned.
    pub fn is_zero(&self) -> bool {
        self.constant && (self.judge)(&[]) == Some(0)
    }
}
