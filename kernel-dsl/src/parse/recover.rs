//! Reading on after a mistake.

use proc_macro2::{Delimiter, Ident, TokenTree};
use syn::{Token, ext::IdentExt, parse::ParseStream};

use crate::report::Report;

/// Skips to behind the next `;` or `{ … }` with what an `else` adds to it, or to the end.
pub(super) fn skip_item(input: ParseStream<'_>) {
    while !input.is_empty() {
        if input.peek(Token![;]) {
            let _ = input.parse::<Token![;]>();
            return;
        }
        match input.parse::<TokenTree>() {
            Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace && !input.peek(Token![else]) => return,
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// Skips what is left between braces, so that it is not an error of its own.
pub(super) fn drain(input: ParseStream<'_>) {
    while input.parse::<TokenTree>().is_ok() {}
}

/// Skips like [`drain`], and tells which words stood there.
pub(super) fn words(input: ParseStream<'_>) -> Vec<Ident> {
    let mut words = Vec::new();
    while let Ok(token) = input.parse::<TokenTree>() {
        if let TokenTree::Ident(word) = token {
            words.push(word);
        }
    }
    words
}

/// An error at the next token, or at the end of the input.
pub(super) fn error_here(input: ParseStream<'_>, message: impl std::fmt::Display) -> syn::Error {
    syn::Error::new(input.span(), message)
}

/// The `;` behind `what`. Where it is missing and something else starts, reading goes on as if it stood there.
pub(super) fn semicolon(input: ParseStream<'_>, what: &str, starts: &[&str], report: &mut Report) -> syn::Result<()> {
    if input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
        return Ok(());
    }
    let error = error_here(input, format!("expected `;` before this: {what} ends with one"));
    let next = input.fork().call(Ident::parse_any).map(|word| word.to_string());
    if input.is_empty() || next.is_ok_and(|word| starts.contains(&word.as_str())) {
        report.syntax(error);
        return Ok(());
    }
    Err(error)
}
