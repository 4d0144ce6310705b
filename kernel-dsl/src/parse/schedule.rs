//! Loops and steps.

use proc_macro2::Ident;
use syn::{Token, braced, parse::ParseStream};

use super::{
    recover::skip_item,
    step::step,
    when::{IF, Reading, when},
    word::{any_word, comma, in_parentheses, optional, tile_size},
};
use crate::{
    near::nearest,
    report::Report,
    tree::{Loop, Statement},
};

/// The statements of a block, and whether all of them could be read.
pub(super) fn statements(input: ParseStream<'_>, reading: &mut Reading, report: &mut Report) -> (Vec<Statement>, bool) {
    let mut statements = Vec::new();
    let mut complete = true;
    while !input.is_empty() {
        let parsed = if input.peek(Token![for]) {
            walk(input, reading, report).map(|(l, body_complete)| {
                complete &= body_complete;
                vec![Statement::Loop(l)]
            })
        } else {
            match when_or_if(input, report) {
                Ok(Some(keyword)) => branches(input, &keyword, reading, report).map(|(taken, both_complete)| {
                    complete &= both_complete;
                    taken
                }),
                _ => step(input, report).map(|step| vec![Statement::Step(step)]),
            }
        };
        match parsed {
            Ok(read) => statements.extend(read),
            Err(error) => {
                report.syntax(error);
                complete = false;
                skip_item(input);
            }
        }
    }
    (statements, complete)
}

/// `when`, or the word other languages have for it.
fn when_or_if(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Option<Ident>> {
    let other = optional(input, "if")?;
    if let Some(word) = &other {
        report.error(word.span(), IF);
        return Ok(other);
    }
    optional(input, "when")
}

/// `when v79 { … } else { … }`: the statements of the branch that is taken, and whether both could be read.
fn branches(
    input: ParseStream<'_>,
    keyword: &Ident,
    reading: &mut Reading,
    report: &mut Report,
) -> syn::Result<(Vec<Statement>, bool)> {
    let (mut statements, mut complete) = (Vec::new(), true);
    when(input, keyword, reading, report, &mut |content, taken, reading, report| {
        let (read, branch_complete) = self::statements(content, reading, report);
        complete &= branch_complete;
        if taken {
            statements.extend(read);
        }
    })?;
    Ok((statements, complete))
}

/// `for mo in tiles(m, mc) pipeline(wq) { … }`
fn walk(input: ParseStream<'_>, reading: &mut Reading, report: &mut Report) -> syn::Result<(Loop, bool)> {
    input.parse::<Token![for]>()?;
    let variable: Ident = input.parse()?;
    input.parse::<Token![in]>()?;
    let tiles = any_word(input, "`tiles(AXIS, TILE)`")?;
    if tiles != "tiles" {
        if nearest(&tiles.to_string(), ["tiles"]).is_none() {
            let message = format!("a loop walks `tiles(AXIS, TILE)`, `{tiles}` is something else");
            return Err(syn::Error::new(tiles.span(), message));
        }
        report.error(tiles.span(), format!("unknown word `{tiles}`: did you mean `tiles`?"));
    }
    const EXPECTED: &str = "`tiles(AXIS, TILE)`: an axis and the tunable that is its tile";
    let (axis, tile) = in_parentheses(input, EXPECTED, |arguments| {
        let axis = any_word(arguments, EXPECTED)?;
        comma(arguments, EXPECTED)?;
        Ok((axis, tile_size(arguments, EXPECTED)?))
    })?;
    let mut pipeline = Vec::new();
    while !input.peek(syn::token::Brace) {
        let directive = any_word(input, "`pipeline(WINDOW)` or the body of the loop")?;
        if directive != "pipeline" {
            let near = nearest(&directive.to_string(), ["pipeline"]);
            let way_out = near.map_or("expected `pipeline(WINDOW, …)`", |_| "did you mean `pipeline`?");
            let message = format!("unknown directive `{directive}` on a loop: {way_out}");
            if near.is_none() {
                return Err(syn::Error::new(directive.span(), message));
            }
            report.error(directive.span(), message);
        }
        const WINDOWS: &str = "`pipeline(WINDOW, …)`: the windows whose loads run ahead";
        in_parentheses(input, WINDOWS, |windows| {
            while !windows.is_empty() {
                pipeline.push(any_word(windows, WINDOWS)?);
                if !windows.is_empty() {
                    comma(windows, WINDOWS)?;
                }
            }
            Ok(())
        })?;
    }
    let content;
    braced!(content in input);
    let (body, complete) = statements(&content, reading, report);
    Ok((Loop { variable, axis, tile, pipeline, body }, complete))
}
