//! Operands, tunables, windows.

use proc_macro2::{Group, Ident};
use syn::{Token, ext::IdentExt, parse::ParseStream};

use super::{
    item::STARTS,
    recover::{error_here, semicolon},
    word::{any_word, comma, in_brackets, number, one_of, optional_or_near, tile_size},
};
use crate::{
    report::Report,
    rules::limits::MAX_STAGES,
    tree::{
        BlockFormat, Candidates, Element, Operand, OperandLayout, OperandRole, Scope, TileFormat, Tunable, Window,
        WindowLayout,
    },
};

fn operand_role(input: ParseStream<'_>) -> syn::Result<OperandRole> {
    const ROLES: &[(&str, OperandRole)] = &[
        ("activation", OperandRole::Activation),
        ("weight", OperandRole::Weight),
        ("output", OperandRole::Output),
        ("column", OperandRole::Column),
    ];
    /// Words other languages have for them.
    const ELSEWHERE: &[(&[&str], &str)] = &[
        (
            &["bias", "scale", "vector", "factor"],
            "a factor or an addend for each column of the output is a `column f32 vector[AXIS]`",
        ),
        (&["input", "data", "activations", "tokens"], "token rows that are read have role `activation`"),
        (&["weights", "param", "parameter"], "a frozen matrix has role `weight`"),
        (&["result", "out", "outputs"], "the rows that are written have role `output`"),
    ];
    let word = input.fork().call(Ident::parse_any).map(|word| word.to_string()).unwrap_or_default();
    if let Some((_, role)) = ELSEWHERE.iter().find(|(words, _)| words.contains(&word.as_str())) {
        return Err(error_here(input, format!("unknown operand role `{word}`: {role}")));
    }
    Ok(one_of(input, "operand role", ROLES)?.0)
}

/// `: activation f32 row_major[m, k] in ddr_stream;`
pub(super) fn operand(
    input: ParseStream<'_>,
    name: Ident,
    formats: &[TileFormat],
    report: &mut Report,
) -> syn::Result<Operand> {
    const LAYOUTS: &[(&str, OperandLayout)] =
        &[("row_major", OperandLayout::RowMajor), ("vector", OperandLayout::Vector)];
    const SCOPES: &[(&str, Scope)] = &[("ddr_resident", Scope::DdrResident), ("ddr_stream", Scope::DdrStream)];
    input.parse::<Token![:]>()?;
    let role = operand_role(input)?;
    let mut words = vec![("f32", Err(Element::F32)), ("f16", Err(Element::F16)), ("bf16", Err(Element::Bf16))];
    words.extend(formats.iter().map(|format| (format.name.as_str(), Ok(OperandLayout::Tiles(format.clone())))));
    words.extend(BlockFormat::ALL.map(|format| (format.keyword(), Ok(OperandLayout::Blocks(format)))));
    let (element, layout) = match one_of(input, "element type or layout", &words)?.0 {
        Err(element) => (element, one_of(input, "operand layout", LAYOUTS)?.0),
        Ok(layout) => (Element::Packed, layout),
    };
    let axes = if layout == OperandLayout::Vector {
        let axis = single(input, "the axis it runs along")?;
        [axis.clone(), axis]
    } else {
        pair(input, "the axes of its rows and columns")?
    };
    input.parse::<Token![in]>().map_err(|_| error_here(input, "expected `in ddr_resident` or `in ddr_stream`"))?;
    let (scope, scope_word) = one_of(input, "memory scope", SCOPES)?;
    semicolon(input, "an operand", STARTS, report)?;
    Ok(Operand { name, role, element, layout, axes, scope, scope_span: scope_word.span() })
}

/// What a tile size is, in words.
const TILES: &str = "a positive multiple of 32 below 2^32";

/// `in [32, 64] multiple_of 32;` or `in 32..=1024 multiple_of 32;`
pub(super) fn tunable(input: ParseStream<'_>, name: Ident, report: &mut Report) -> syn::Result<Tunable> {
    input.parse::<Token![in]>().map_err(|_| {
        error_here(input, "expected `in [32, 64, …]` or `in 32..=1024`: the values the tunable may take")
    })?;
    let candidates_span;
    let candidates = if input.peek(syn::token::Bracket) {
        candidates_span = input.fork().parse::<Group>()?.span();
        const EXPECTED: &str = "`[32, 64, …]`: the values the tunable may take";
        Candidates::List(in_brackets(input, EXPECTED, |content| {
            let mut values = Vec::new();
            while !content.is_empty() {
                values.push(number(content, "a candidate", TILES)?);
                if !content.is_empty() {
                    comma(content, EXPECTED)?;
                }
            }
            Ok(values)
        })?)
    } else {
        candidates_span = input.span();
        let min = number(input, "the smallest candidate", TILES)?;
        input.parse::<Token![..=]>().map_err(|_| {
            error_here(input, "expected `..=` and the largest candidate: both ends of the range belong to it")
        })?;
        Candidates::Range(min, number(input, "the largest candidate", TILES)?)
    };
    let multiple_of = match optional_or_near(input, "multiple_of")? {
        Some(_) => number(input, "the divisor behind `multiple_of`", TILES)?,
        None => 32,
    };
    semicolon(input, "a tunable", STARTS, report)?;
    Ok(Tunable { name, candidates, candidates_span, multiple_of })
}

/// `: activation_tiles f16[mc, kc] stages 2;`
pub(super) fn window(
    input: ParseStream<'_>,
    name: Ident,
    formats: &[TileFormat],
    report: &mut Report,
) -> syn::Result<Window> {
    let mut layouts = vec![
        ("activation_tiles", WindowLayout::ActivationTiles),
        ("weight_tiles", WindowLayout::WeightTiles),
        ("output_tiles", WindowLayout::OutputTiles),
        ("row_major", WindowLayout::RowMajor),
    ];
    layouts.extend(formats.iter().map(|format| (format.name.as_str(), WindowLayout::Tiles(format.clone()))));
    layouts.extend(BlockFormat::ALL.map(|format| (format.keyword(), WindowLayout::Blocks(format))));
    input.parse::<Token![:]>()?;
    let (layout, _) = one_of(input, "window layout", &layouts)?;
    let element = if matches!(layout, WindowLayout::Tiles(_) | WindowLayout::Blocks(_)) {
        Element::Packed
    } else {
        element(input, layout.keyword())?
    };
    const EXPECTED: &str = "`[a, b]`: the tunables that are its two tile sizes";
    let extents = in_brackets(input, EXPECTED, |content| {
        let rows = tile_size(content, EXPECTED)?;
        comma(content, EXPECTED)?;
        Ok([rows, tile_size(content, EXPECTED)?])
    })?;
    let mut stages_span = name.span();
    let stages = match optional_or_near(input, "stages")? {
        Some(word) => {
            stages_span = word.span();
            number(input, "the number of stages", &format!("a whole number from 1 to {MAX_STAGES}"))?
        }
        None => 1,
    };
    semicolon(input, "a window", STARTS, report)?;
    Ok(Window { name, layout, element, extents, stages, stages_span })
}

/// `f16`: HMX takes nothing else.
fn element(input: ParseStream<'_>, layout: &str) -> syn::Result<Element> {
    let word = input.fork().call(Ident::parse_any).map(|word| word.to_string()).unwrap_or_default();
    if ["bf16", "f32"].contains(&word.as_str()) {
        return Err(error_here(
            input,
            format!(
                "a window holds FP16, which is what HMX multiplies: write `{layout} f16`; `pack_rows` and `pack_cols` turn \
                 {word} token rows into it"
            ),
        ));
    }
    Ok(one_of(input, "element type of a window", &[("f16", Element::F16)])?.0)
}

/// `[a]`
fn single(input: ParseStream<'_>, what: &str) -> syn::Result<Ident> {
    let expected = format!("`[axis]`: {what}");
    in_brackets(input, &expected, |content| any_word(content, &expected))
}

/// `[a, b]`
pub(super) fn pair(input: ParseStream<'_>, what: &str) -> syn::Result<[Ident; 2]> {
    let expected = format!("`[rows, columns]`, two names: {what}");
    in_brackets(input, &expected, |content| {
        let first = any_word(content, &expected)?;
        comma(content, &expected)?;
        Ok([first, any_word(content, &expected)?])
    })
}
