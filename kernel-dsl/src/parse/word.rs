//! Single words and numbers.

use proc_macro2::Ident;
use syn::{LitInt, Token, bracketed, ext::IdentExt, parenthesized, parse::ParseStream};

use super::recover::{drain, error_here};

/// The next identifier, keywords such as `in` included.
pub(super) fn any_word(input: ParseStream<'_>, expected: &str) -> syn::Result<Ident> {
    if input.peek(Ident::peek_any) {
        input.call(Ident::parse_any)
    } else {
        Err(error_here(input, format!("expected {expected}")))
    }
}

/// One of `words`; the error lists them.
pub(super) fn one_of<T: Clone>(input: ParseStream<'_>, what: &str, words: &[(&str, T)]) -> syn::Result<(T, Ident)> {
    let list = words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let word = any_word(input, &format!("{what}: one of {list}"))?;
    match words.iter().find(|(name, _)| word == name) {
        Some((_, value)) => Ok((value.clone(), word)),
        None => Err(syn::Error::new(word.span(), format!("unknown {what} `{word}`: expected one of {list}"))),
    }
}

/// Takes `word` if it comes next.
pub(super) fn optional(input: ParseStream<'_>, word: &str) -> syn::Result<Option<Ident>> {
    if input.peek(Ident::peek_any) && input.fork().call(Ident::parse_any)? == word {
        return input.call(Ident::parse_any).map(Some);
    }
    Ok(None)
}

/// A whole number that fits 32 bits.
pub(super) fn number(input: ParseStream<'_>, what: &str) -> syn::Result<u32> {
    if !input.peek(LitInt) {
        return Err(error_here(input, format!("expected {what}, a whole number")));
    }
    let literal: LitInt = input.parse()?;
    literal
        .base10_parse::<u32>()
        .map_err(|_| syn::Error::new(literal.span(), format!("{what} must be a whole number below 2^32")))
}

/// `(…)` read to its end by `read`; `expected` says what belongs here, parentheses included.
pub(super) fn in_parentheses<T>(
    input: ParseStream<'_>,
    expected: &str,
    read: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    if !input.peek(syn::token::Paren) {
        return Err(error_here(input, format!("expected {expected}")));
    }
    let content;
    parenthesized!(content in input);
    whole(&content, expected, read)
}

/// `[…]` read to its end by `read`; `expected` says what belongs here, brackets included.
pub(super) fn in_brackets<T>(
    input: ParseStream<'_>,
    expected: &str,
    read: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    if !input.peek(syn::token::Bracket) {
        return Err(error_here(input, format!("expected {expected}")));
    }
    let content;
    bracketed!(content in input);
    whole(&content, expected, read)
}

fn whole<T>(
    content: ParseStream<'_>,
    expected: &str,
    read: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let result = read(content).and_then(|value| {
        if content.is_empty() { Ok(value) } else { Err(error_here(content, format!("expected {expected}"))) }
    });
    if result.is_err() {
        drain(content);
    }
    result
}

/// A comma.
pub(super) fn comma(input: ParseStream<'_>, expected: &str) -> syn::Result<()> {
    input.parse::<Token![,]>().map(|_| ()).map_err(|_| error_here(input, format!("expected {expected}")))
}

/// The name of a tunable: a size is one, so that a plan can choose it.
pub(super) fn tile_size(input: ParseStream<'_>, expected: &str) -> syn::Result<Ident> {
    if input.peek(LitInt) {
        let size: LitInt = input.fork().parse()?;
        return Err(error_here(
            input,
            format!(
                "a tile size is a tunable, not a number: declare `tunable NAME in [{}];` and write `NAME` here",
                size.base10_digits()
            ),
        ));
    }
    any_word(input, expected)
}
