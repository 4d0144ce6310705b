//! Collects the mistakes of one run.

use proc_macro2::{Span, TokenStream};

#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<syn::Error>,
}

impl Report {
    pub fn error(&mut self, span: Span, message: impl std::fmt::Display) {
        self.errors.push(syn::Error::new(span, message));
    }

    pub fn syntax(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    pub fn append(&mut self, other: Report) {
        self.errors.extend(other.errors);
    }

    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// One `compile_error!` for each mistake, in the order found.
    pub fn into_compile_errors(self) -> TokenStream {
        self.errors.iter().map(syn::Error::to_compile_error).collect()
    }
}
