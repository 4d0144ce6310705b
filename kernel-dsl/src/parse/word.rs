//! Single words and numbers.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Lit, LitInt, Token, bracketed, ext::IdentExt, parenthesized, parse::ParseStream};

use super::recover::{drain, error_here};
use crate::near::{nearest, way_out};

/// The next identifier, keywords such as `in` included.
pub(super) fn any_word(input: ParseStream<'_>, expected: &str) -> syn::Result<Ident> {
    if input.peek(Ident::peek_any) {
        input.call(Ident::parse_any)
    } else {
        Err(error_here(input, format!("expected {expected}")))
    }
}

/// One of `words`; the error names the one that was meant, or lists them.
pub(super) fn one_of<T: Clone>(input: ParseStream<'_>, what: &str, words: &[(&str, T)]) -> syn::Result<(T, Ident)> {
    let list = words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let expected = if words.len() == 1 { list } else { format!("one of {list}") };
    let word = any_word(input, &format!("{what}: {expected}"))?;
    match words.iter().find(|(name, _)| word == name) {
        Some((_, value)) => Ok((value.clone(), word)),
        None => {
            let known = words.iter().map(|(name, _)| *name);
            let way_out = way_out(&word.to_string(), known, &format!("expected {expected}"));
            Err(syn::Error::new(word.span(), format!("unknown {what} `{word}`: {way_out}")))
        }
    }
}

/// Takes `word` if it comes next.
pub(super) fn optional(input: ParseStream<'_>, word: &str) -> syn::Result<Option<Ident>> {
    if input.peek(Ident::peek_any) && input.fork().call(Ident::parse_any)? == word {
        return input.call(Ident::parse_any).map(Some);
    }
    Ok(None)
}

/// As [`optional`]; a word that is almost `word` is a mistake of its own.
pub(super) fn optional_or_near(input: ParseStream<'_>, word: &str) -> syn::Result<Option<Ident>> {
    let found = optional(input, word)?;
    let next = input.fork().call(Ident::parse_any);
    if let (None, Ok(next)) = (&found, next)
        && nearest(&next.to_string(), [word]).is_some()
    {
        return Err(syn::Error::new(next.span(), format!("unknown word `{next}`: did you mean `{word}`?")));
    }
    Ok(found)
}

/// A whole number that fits 32 bits; `allowed` says which ones make sense.
pub(super) fn number(input: ParseStream<'_>, what: &str, allowed: &str) -> syn::Result<u32> {
    // A sign is read with its number.
    let signed = input.peek(Token![-]) && input.peek2(Lit);
    if !signed && !input.peek(Lit) {
        return Err(error_here(input, format!("expected {what}: {allowed}")));
    }
    let span = input.span();
    let sign = if signed { "-" } else { "" };
    input.parse::<Option<Token![-]>>()?;
    let literal: Lit = input.parse()?;
    let value = match &literal {
        Lit::Int(number) if !signed => number.base10_parse::<u32>().ok(),
        _ => None,
    };
    value.ok_or_else(|| {
        let written = literal.to_token_stream();
        syn::Error::new(span, format!("{what} is {allowed}, not `{sign}{written}`"))
    })
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
    let before = if input.is_empty() { "" } else { "`,` before this, as in " };
    input.parse::<Token![,]>().map(|_| ()).map_err(|_| error_here(input, format!("expected {before}{expected}")))
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
