//! Reading on after a mistake.

use proc_macro2::{Delimiter, TokenTree};
use syn::{Token, parse::ParseStream};

/// Skips to behind the next `;` or `{ … }`, or to the end.
pub(super) fn skip_item(input: ParseStream<'_>) {
    while !input.is_empty() {
        if input.peek(Token![;]) {
            let _ = input.parse::<Token![;]>();
            return;
        }
        match input.parse::<TokenTree>() {
            Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => return,
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// Skips what is left between braces, so that it is not an error of its own.
pub(super) fn drain(input: ParseStream<'_>) {
    while input.parse::<TokenTree>().is_ok() {}
}

/// An error at the next token, or at the end of the input.
pub(super) fn error_here(input: ParseStream<'_>, message: impl std::fmt::Display) -> syn::Error {
    input.error(message)
}
