//! Steps.

use proc_macro2::Ident;
use syn::{Token, ext::IdentExt, parse::ParseStream};

use super::{
    declaration::pair,
    recover::{error_here, semicolon},
    when::STRAY_ELSE,
    word::{any_word, comma, in_parentheses, number, optional},
};
use crate::{
    near::{nearest, way_out},
    report::Report,
    rules::limits::GUARD,
    tree::{Block, Conversion, Side, Step, StepKind, Unpack},
};

const STEPS: &str = "`load`, `pack_rows`, `pack_cols`, `interleave_pairs`, `scatter_words`, `dequantise`, `apply`, `multiply`, \
                     `unpack_rows`, `unpack_cols`, `for` or `when`";

/// The first words of statements.
const STARTS: &[&str] = &[
    "load",
    "pack_rows",
    "pack_cols",
    "interleave_pairs",
    "scatter_words",
    "dequantise",
    "apply",
    "multiply",
    "unpack_rows",
    "unpack_cols",
    "for",
    "when",
];

pub(super) fn step(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Step> {
    let written = any_word(input, STEPS)?;
    let keyword = meant(&written, report);
    let convert = |conversion| -> syn::Result<StepKind> {
        let to = destination(input)?;
        Ok(StepKind::Convert { conversion, to, from: any_word(input, "the window to read")? })
    };
    let kind = match keyword.to_string().as_str() {
        "load" => StepKind::Load { to: destination(input)?, from: block(input)? },
        "pack_rows" => pack(input, Side::Rows)?,
        "pack_cols" => pack(input, Side::Cols)?,
        "interleave_pairs" => convert(Conversion::InterleavePairs)?,
        "scatter_words" => convert(Conversion::ScatterWords)?,
        "dequantise" => convert(Conversion::Dequantise)?,
        "apply" => convert(Conversion::Apply(any_word(input, "the name of a step")?))?,
        "multiply" => multiply(input)?,
        "unpack_rows" => unpack(input, Side::Rows)?,
        "unpack_cols" => unpack(input, Side::Cols)?,
        "else" => return Err(syn::Error::new(keyword.span(), STRAY_ELSE)),
        other => {
            let way_out = way_out(other, STARTS.iter().copied(), &format!("expected {STEPS}"));
            return Err(syn::Error::new(written.span(), format!("unknown step `{other}`: {way_out}")));
        }
    };
    let split = split(input)?;
    let next = input.fork().call(Ident::parse_any).map(|word| word.to_string()).unwrap_or_default();
    if !next.is_empty() && !STARTS.contains(&next.as_str()) {
        let directive = any_word(input, "`;`")?;
        let takes = directives(&kind);
        let wrong = if takes.contains(&format!("`{directive}(")) {
            format!("directive `{directive}` of `{keyword}` stands twice or out of its place")
        } else {
            let known = takes.split('`').skip(1).step_by(2).filter_map(|directive| directive.split('(').next());
            let way_out = way_out(&directive.to_string(), known, takes);
            return Err(syn::Error::new(
                directive.span(),
                format!("unknown directive `{directive}` on `{keyword}`: {way_out}"),
            ));
        };
        return Err(syn::Error::new(directive.span(), format!("{wrong}: {takes}")));
    }
    semicolon(input, &format!("`{keyword} …`"), STARTS, report)?;
    Ok(Step { keyword, kind, split })
}

/// The first word of a step; a near one is a mistake, and read as if it were right.
fn meant(written: &Ident, report: &mut Report) -> Ident {
    let word = written.to_string();
    let blocks = ["for", "when"];
    let steps = STARTS.iter().copied().filter(|step| !blocks.contains(step));
    match nearest(&word, steps) {
        Some(meant) if meant != word => {
            report.error(written.span(), format!("unknown step `{word}`: did you mean `{meant}`?"));
            Ident::new(meant, written.span())
        }
        _ => written.clone(),
    }
}

fn directives(kind: &StepKind) -> &'static str {
    match kind {
        StepKind::Pack { .. } => "it takes `scale(row)` and, last, `split(AXIS)`, once each",
        StepKind::Unpack(_) => {
            "it takes `unscale(row)`, `column_scale(VECTOR)`, `column_bias(VECTOR)`, `guard(60000)` and, last, \
             `split(AXIS)`, once each"
        }
        StepKind::Convert { .. } => "it takes `split(AXIS)`, once",
        StepKind::Load { .. } | StepKind::Multiply { .. } => "it takes none",
    }
}

/// `split(m)`, if it comes next.
fn split(input: ParseStream<'_>) -> syn::Result<Option<Ident>> {
    if optional(input, "split")?.is_none() {
        return Ok(None);
    }
    const EXPECTED: &str = "`split(AXIS)`: the one axis whose strips are dealt out to the workers";
    in_parentheses(input, EXPECTED, |argument| any_word(argument, EXPECTED)).map(Some)
}

/// `WINDOW <-`
fn destination(input: ParseStream<'_>) -> syn::Result<Ident> {
    let to = any_word(input, "the window to fill")?;
    input.parse::<Token![<-]>().map_err(|_| error_here(input, format!("expected `<-` after `{to}`")))?;
    Ok(to)
}

/// `x[mo, ko]`
fn block(input: ParseStream<'_>) -> syn::Result<Block> {
    let operand = any_word(input, "an operand")?;
    Ok(Block { operand, variables: pair(input, "the loops that select the block")? })
}

fn pack(input: ParseStream<'_>, side: Side) -> syn::Result<StepKind> {
    let to = destination(input)?;
    let from = block(input)?;
    let scale = row_directive(input, "scale")?;
    Ok(StepKind::Pack { side, to, from, scale })
}

/// `yc <- xa * wb` or `yc <- swap(xa, wa)`
fn multiply(input: ParseStream<'_>) -> syn::Result<StepKind> {
    let to = destination(input)?;
    let first = any_word(input, "`DATA * WEIGHTS` or `swap(DATA, WEIGHTS)`")?;
    if first == "swap" && input.peek(syn::token::Paren) {
        const EXPECTED: &str = "`swap(DATA, WEIGHTS)`: the window of token rows, then that of the weights";
        let (data, weights) = in_parentheses(input, EXPECTED, |arguments| {
            let data = any_word(arguments, EXPECTED)?;
            comma(arguments, EXPECTED)?;
            Ok((data, any_word(arguments, EXPECTED)?))
        })?;
        return Ok(StepKind::Multiply { to, data, weights, swap: true });
    }
    input.parse::<Token![*]>().map_err(|_| error_here(input, format!("expected `*` after `{first}`")))?;
    Ok(StepKind::Multiply { to, data: first, weights: any_word(input, "the window of weights")?, swap: false })
}

/// `y[mo, no] += yc unscale(row) guard(60000)`
fn unpack(input: ParseStream<'_>, side: Side) -> syn::Result<StepKind> {
    let to = block(input)?;
    if input.peek(Token![=]) {
        return Err(error_here(
            input,
            "`=` would keep only the last block of the contraction: write `+=`, of which the first block stores and the others add",
        ));
    }
    input
        .parse::<Token![+=]>()
        .map_err(|_| error_here(input, "expected `+=`: blocks of the contraction are summed"))?;
    let from = any_word(input, "the window to read")?;
    let (mut unscale, mut guard, mut column_scale, mut column_bias) = (false, None, None, None);
    loop {
        if !unscale && row_directive(input, "unscale")? {
            unscale = true;
        } else if guard.is_none() && optional(input, "guard")?.is_some() {
            let expected = format!("`guard({GUARD})`: the whole number from which the device layer flags a row");
            guard =
                Some(in_parentheses(input, &expected, |limit| number(limit, "the guard's limit", &GUARD.to_string()))?);
        } else if column_scale.is_none() && optional(input, "column_scale")?.is_some() {
            column_scale = Some(vector(input, "column_scale")?);
        } else if column_bias.is_none() && optional(input, "column_bias")?.is_some() {
            column_bias = Some(vector(input, "column_bias")?);
        } else {
            return Ok(StepKind::Unpack(Unpack { side, to, from, unscale, column_scale, column_bias, guard }));
        }
    }
}

/// `(s)`
fn vector(input: ParseStream<'_>, directive: &str) -> syn::Result<Ident> {
    let expected =
        format!("`{directive}(NAME)`: one operand of role `column`, a vector over the columns of the output");
    in_parentheses(input, &expected, |argument| any_word(argument, &expected))
}

/// `scale(row)` or `unscale(row)`, if it comes next.
fn row_directive(input: ParseStream<'_>, name: &str) -> syn::Result<bool> {
    if optional(input, name)?.is_none() {
        return Ok(false);
    }
    let expected = format!("`{name}(row)`: it works on token rows");
    in_parentheses(input, &expected, |argument| match any_word(argument, &expected)? {
        what if what == "row" => Ok(true),
        what => Err(syn::Error::new(what.span(), format!("expected {expected}"))),
    })
}
