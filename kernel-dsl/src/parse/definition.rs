//! Layouts and steps that an author adds to the language, for the kernels below them.

use proc_macro2::{Ident, Span};
use syn::{Attribute, LitStr, Token, braced, parenthesized, parse::ParseStream};

use super::{
    recover::{drain, error_here, semicolon},
    word::{any_word, number, one_of},
};
use crate::{
    body_text::place,
    c_body::{Mistake, mistakes},
    report::Report,
    tree::{HvxStep, Side, StepInput, TileFormat, TileKind},
};

/// `{ tile_bytes: 704, vtcm_stride: 768 }`. What stands between the braces may be no layout: using the name is not a second
/// mistake.
pub(super) fn layout(input: ParseStream<'_>, name: &Ident, report: &mut Report) -> syn::Result<TileFormat> {
    let content;
    let brace = braced!(content in input);
    match layout_body(&content, brace.span.join(), name, report) {
        Ok(format) => Ok(format),
        Err(error) => {
            report.syntax(error);
            drain(&content);
            Ok(TileFormat { name: name.to_string(), kind: TileKind::Own { bytes: 128, stride: 128 } })
        }
    }
}

fn layout_body(content: ParseStream<'_>, span: Span, name: &Ident, report: &mut Report) -> syn::Result<TileFormat> {
    let (mut bytes, mut stride) = (None, None);
    while !content.is_empty() {
        const FIELDS: &[(&str, bool)] = &[("tile_bytes", true), ("vtcm_stride", false)];
        let (is_bytes, word) = one_of(content, "property of a layout", FIELDS).map_err(|error| {
            if error.to_string().ends_with('?') {
                return error;
            }
            let meaning = "a layout says how many bytes a 32×32 tile has and how far apart tiles lie; a `step` says what they mean";
            syn::Error::new(error.span(), format!("{error}; {meaning}"))
        })?;
        content.parse::<Token![:]>()?;
        let slot = if is_bytes { &mut bytes } else { &mut stride };
        let span = content.span();
        if slot.replace((number(content, "the number of bytes", "a whole number from 1 to 2^24 - 1")?, span)).is_some()
        {
            report.error(word.span(), format!("layout `{name}` says `{word}` twice"));
        }
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    let Some((bytes, bytes_span)) = bytes else {
        return Err(syn::Error::new(span, format!("layout `{name}` needs `tile_bytes: BYTES`")));
    };
    if bytes == 0 || bytes >= 1 << 24 {
        report.error(bytes_span, "a tile has 1 to 2^24 - 1 bytes: a row of a DMA descriptor");
    }
    if let Some((stride, span)) = stride
        && (stride < bytes || stride % 128 != 0)
    {
        report.error(
            span,
            format!(
                "tiles of {bytes} bytes cannot lie {stride} bytes apart in VTCM: take a multiple of 128 from {bytes} on"
            ),
        );
    }
    let stride = stride.map_or_else(|| bytes.saturating_add(127) / 128 * 128, |(stride, _)| stride);
    Ok(TileFormat { name: name.to_string(), kind: TileKind::Own { bytes, stride } })
}

/// `: q5_0_tiles -> f16_tiles pairs(cols) { body "…"; reference |tile, p, q| … }`; `None` if what stands between the braces is
/// no step.
pub(super) fn step(
    input: ParseStream<'_>,
    docs: Vec<Attribute>,
    name: Ident,
    formats: &[TileFormat],
    report: &mut Report,
) -> syn::Result<Option<HvxStep>> {
    input.parse::<Token![:]>()?;
    let mut sources = vec![("f16_tiles", Source::Tiles), ("f16_rows", Source::Rows)];
    sources.extend(formats.iter().map(|format| (format.name.as_str(), Source::Packed(format))));
    let (source, _) = one_of(input, "input of a step", &sources)?;
    input.parse::<Token![->]>().map_err(|_| error_here(input, "expected `-> f16_tiles`: what the step makes"))?;
    one_of(input, "output of a step", &[("f16_tiles", ())])?;
    let step_input = match source {
        Source::Tiles => StepInput::F16,
        Source::Rows => StepInput::Rows(pairs(input)?),
        Source::Packed(format) => StepInput::Packed(format.clone(), pairs(input)?),
    };
    let content;
    let brace = braced!(content in input);
    match step_body(&content, brace.span.join(), &name, report) {
        Ok((body, reference)) => {
            c_of(&name, &body, report);
            Ok(Some(HvxStep { docs, name, input: step_input, body, reference }))
        }
        Err(error) => {
            report.syntax(error);
            drain(&content);
            Ok(None)
        }
    }
}

/// What the word behind the name of a step stands for.
#[derive(Clone, Copy)]
enum Source<'a> {
    Tiles,
    Rows,
    Packed(&'a TileFormat),
}

/// `pairs(rows)` or `pairs(cols)`
fn pairs(input: ParseStream<'_>) -> syn::Result<Side> {
    let word = any_word(input, "`pairs(rows)` or `pairs(cols)`: which side of the input p counts")?;
    if word != "pairs" {
        return Err(syn::Error::new(word.span(), "expected `pairs(rows)` or `pairs(cols)`"));
    }
    let argument;
    parenthesized!(argument in input);
    Ok(one_of(&argument, "side", &[("rows", Side::Rows), ("cols", Side::Cols)])?.0)
}

fn step_body(
    content: ParseStream<'_>,
    span: Span,
    name: &Ident,
    report: &mut Report,
) -> syn::Result<(LitStr, syn::ExprClosure)> {
    let (mut body, mut reference) = (None, None);
    while !content.is_empty() {
        let (is_body, word) = one_of(content, "part of a step", &[("body", true), ("reference", false)])?;
        let again = if is_body {
            let text: LitStr =
                content.parse().map_err(|_| error_here(content, "expected the C of the body, a string"))?;
            semicolon(content, "the body of a step", &["body", "reference"], report)?;
            body.replace(text).is_some()
        } else {
            let closure: syn::ExprClosure = content.parse()?;
            if content.peek(Token![;]) {
                content.parse::<Token![;]>()?;
            }
            if closure.inputs.len() != 3 {
                return Err(syn::Error::new(
                    closure.inputs_begin.span,
                    "the reference of a step takes three arguments, `|tile, p, q|`: the input tile and the element of the \
                     FP16 tile",
                ));
            }
            reference.replace(closure).is_some()
        };
        if again {
            report.error(word.span(), format!("step `{name}` has a second `{word}`"));
        }
    }
    match (body, reference) {
        (Some(body), Some(reference)) => Ok((body, reference)),
        (body, _) => {
            let missing = if body.is_none() {
                "`body \"…\";`, the C that makes one FP16 tile"
            } else {
                "`reference |tile, p, q| …`, what the body computes"
            };
            Err(syn::Error::new(span, format!("step `{name}` has no {missing}")))
        }
    }
}

/// The body stands inside a function, may not end it, and does nothing the models cannot see.
fn c_of(name: &Ident, body: &LitStr, report: &mut Report) {
    let text = body.value();
    if text.trim().is_empty() {
        report.error(
            body.span(),
            format!("step `{name}` has an empty body: store the 16 vectors of the FP16 tile at `to` with `pf_vstore`"),
        );
    }
    for Mistake { line, column, what, help } in mistakes(&text) {
        let place = place(body, line, column);
        report.error(body.span(), format!("in the body of step `{name}`, {place}: {what}; {help}"));
    }
}
