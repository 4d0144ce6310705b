//! The parser. It reports a mistake, skips to the end of the item it is in, and reads on.

mod declaration;
mod definition;
mod recover;
mod roles;
mod schedule;
mod when;
mod word;

use std::rc::Rc;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use syn::{
    Attribute, Token, Visibility, braced,
    parse::{ParseStream, Parser},
};

use crate::{
    report::Report,
    tree::{BlockFormat, Definitions, Kernel, Requirement},
    version::{Arch, Direction, Version},
};
use recover::{error_here, semicolon, skip_item};
use when::Reading;
use word::any_word;

/// Every definition and kernel of one macro call. A kernel is read once for each direction, and for each of them once, or once
/// for each architecture if it differs.
pub(crate) fn kernels(tokens: TokenStream, report: &mut Report) -> (Definitions, Vec<Vec<Vec<Kernel>>>) {
    let mut kernels = Vec::new();
    let mut definitions = Definitions { layouts: Vec::new(), steps: Vec::new(), unreadable: Vec::new() };
    let parsed = (|input: ParseStream<'_>| {
        while !input.is_empty() {
            match definition_or_kernel(input, &mut definitions, report) {
                Ok(kernel) => kernels.extend(kernel),
                Err(error) => {
                    report.syntax(error);
                    skip_item(input);
                }
            }
        }
        Ok(())
    })
    .parse2(tokens);
    if let Err(error) = parsed {
        report.syntax(error);
    }
    (definitions, kernels)
}

fn definition_or_kernel(
    input: ParseStream<'_>,
    definitions: &mut Definitions,
    report: &mut Report,
) -> syn::Result<Option<Vec<Vec<Kernel>>>> {
    let docs = input.call(Attribute::parse_outer)?;
    for attribute in &docs {
        if !attribute.path().is_ident("doc") && !attribute.path().is_ident("allow") && !attribute.path().is_ident("cfg")
        {
            report.error(
                attribute.pound_token.span,
                "unknown directive: doc comments, `#[allow]` and `#[cfg]` may stand here",
            );
        }
    }
    let visibility: Visibility = input.parse()?;
    const EXPECTED: &str = "`kernel NAME { … }`, `layout NAME { … }` or `step NAME: … { … }`";
    let keyword = any_word(input, EXPECTED)?;
    if keyword == "kernel" {
        return kernel(input, docs, visibility, definitions, report).map(Some);
    }
    if keyword != "layout" && keyword != "step" {
        return Err(syn::Error::new(keyword.span(), format!("expected {EXPECTED}, found `{keyword}`")));
    }
    let name: Ident = input.parse()?;
    if keyword == "layout" {
        let layout = definition::layout(input, &name, report)?;
        const TAKEN: &[&str] = &[
            "f32",
            "f16",
            "bf16",
            "row_major",
            "vector",
            "activation_tiles",
            "weight_tiles",
            "output_tiles",
            "f16_tiles",
            "f16_rows",
        ];
        let blocks = BlockFormat::ALL.iter().any(|format| format.keyword() == layout.name);
        if blocks
            || TAKEN.contains(&layout.name.as_str())
            || definitions.formats().iter().any(|f| f.name == layout.name)
        {
            report.error(name.span(), format!("there is a layout `{name}` already: take another name"));
        } else {
            definitions.layouts.push((name, layout));
        }
        return Ok(None);
    }
    if definitions.steps.iter().any(|s| s.name == name) {
        report.error(name.span(), format!("there is a step `{name}` already: take another name"));
    }
    let step = definition::step(input, docs, name.clone(), &definitions.formats(), report);
    match step {
        Ok(Some(step)) => definitions.steps.push(Rc::new(step)),
        Ok(None) => definitions.unreadable.push(name),
        Err(error) => {
            definitions.unreadable.push(name);
            return Err(error);
        }
    }
    Ok(None)
}

/// Every kernel the text stands for: one list for each direction, with one kernel for each architecture if it differs.
fn kernel(
    input: ParseStream<'_>,
    docs: Vec<Attribute>,
    visibility: Visibility,
    definitions: &Definitions,
    report: &mut Report,
) -> syn::Result<Vec<Vec<Kernel>>> {
    let name: Ident = input.parse()?;
    let two_directions = when::directions(input)?;
    if !input.peek(syn::token::Brace) {
        return Err(error_here(
            input,
            format!("expected `{{ … }}` or `for forward, input_grad {{ … }}` after `{name}`"),
        ));
    }
    let body: Group = input.parse()?;
    let directions = if two_directions { Direction::ALL.map(Some).to_vec() } else { vec![None] };
    let versions = |archs: &[Arch]| -> Vec<Version> {
        directions.iter().flat_map(|&direction| archs.iter().map(move |&arch| Version { arch, direction })).collect()
    };
    let all = versions(&Arch::ALL);
    let read = |version: Version| {
        let name = match version.direction {
            Some(direction) => Ident::new(&format!("{}_{name}", direction.word()), name.span()),
            None => name.clone(),
        };
        let mut kernel = Kernel::new(docs.clone(), visibility.clone(), name, definitions, version);
        let (mut reading, mut own) = (Reading::new(version, &all), Report::default());
        let parsed = (|input: ParseStream<'_>| {
            let content;
            braced!(content in input);
            items(&content, &mut kernel, definitions, &mut reading, &mut own);
            Ok(())
        })
        .parse2(TokenTree::Group(body.clone()).into());
        if let Err(error) = parsed {
            own.syntax(error);
            kernel.complete = false;
        }
        roles::name(&mut kernel);
        (kernel, reading.by_arch, own)
    };
    // Without a condition on the architecture all architectures read the same.
    let mut kernels: Vec<_> = versions(&Arch::ALL[..1]).into_iter().map(read).collect();
    if kernels.iter().any(|(_, by_arch, _)| *by_arch) {
        kernels = all.iter().copied().map(read).collect();
    }
    let (mut lists, mut reports): (Vec<Vec<Kernel>>, Vec<_>) = (Vec::new(), Vec::new());
    for (kernel, _, own) in kernels {
        reports.push((kernel.version, own));
        match lists.last_mut() {
            Some(list) if list[0].version.direction == kernel.version.direction => list.push(kernel),
            _ => lists.push(vec![kernel]),
        }
    }
    report.merge(reports);
    Ok(lists)
}

/// The items of a kernel, or of a branch of it.
fn items(
    input: ParseStream<'_>,
    kernel: &mut Kernel,
    definitions: &Definitions,
    reading: &mut Reading,
    report: &mut Report,
) {
    while !input.is_empty() {
        if let Err(error) = item(input, kernel, definitions, reading, report) {
            report.syntax(error);
            kernel.complete = false;
            skip_item(input);
        }
    }
}

/// `when v79 { … } else { … }` around items.
fn branches(
    input: ParseStream<'_>,
    keyword: &Ident,
    kernel: &mut Kernel,
    definitions: &Definitions,
    reading: &mut Reading,
    report: &mut Report,
) -> syn::Result<()> {
    when::when(input, keyword, reading, report, &mut |content, taken, reading, report| {
        if taken {
            return items(content, kernel, definitions, reading, report);
        }
        let (name, visibility) = (kernel.name.clone(), kernel.visibility.clone());
        let mut other = Kernel::new(Vec::new(), visibility, name, definitions, kernel.version);
        items(content, &mut other, definitions, reading, report);
        kernel.complete &= other.complete;
        // A mistake by itself: that their names are unknown here would be a second one.
        kernel.axes.append(&mut other.axes);
        kernel.elsewhere.extend(other.names().map(|name| (name.clone(), reading.place())));
        kernel.elsewhere.append(&mut other.elsewhere);
        kernel.unreadable.append(&mut other.unreadable);
    })
}

fn item(
    input: ParseStream<'_>,
    kernel: &mut Kernel,
    definitions: &Definitions,
    reading: &mut Reading,
    report: &mut Report,
) -> syn::Result<()> {
    let keyword = any_word(input, ITEMS)?;
    match keyword.to_string().as_str() {
        "axes" => {
            if !reading.place().is_empty() {
                let message =
                    "`axes` cannot stand in a `when`: callers give a kernel one shape; name the axes once, outside";
                report.error(keyword.span(), message);
            }
            declaration::axes(input, kernel, report)?;
        }
        "when" | "if" => {
            if keyword == "if" {
                report.error(keyword.span(), when::IF);
            }
            branches(input, &keyword, kernel, definitions, reading, report)?;
        }
        "require" => kernel.requirements.push(requirement(input, keyword, report)?),
        "operand" => {
            let name: Ident = input.parse()?;
            match declaration::operand(input, name.clone(), &definitions.formats(), report) {
                Ok(operand) => kernel.operands.push(operand),
                Err(error) => return unreadable(kernel, name, error),
            }
        }
        "tunable" => {
            let name: Ident = input.parse()?;
            match declaration::tunable(input, name.clone(), report) {
                Ok(tunable) => kernel.tunables.push(tunable),
                Err(error) => return unreadable(kernel, name, error),
            }
        }
        "window" => {
            let name: Ident = input.parse()?;
            match declaration::window(input, name.clone(), &definitions.formats(), report) {
                Ok(window) => kernel.windows.push(window),
                Err(error) => return unreadable(kernel, name, error),
            }
        }
        "schedule" => {
            let content;
            braced!(content in input);
            let (statements, complete) = schedule::statements(&content, reading, report);
            kernel.complete &= complete;
            if kernel.schedule.is_some() {
                report.error(keyword.span(), "a kernel has one schedule; this is the second");
            } else {
                kernel.schedule = Some(statements);
            }
        }
        "reference" => reference(input, &keyword, kernel, reading, report)?,
        "else" => return Err(syn::Error::new(keyword.span(), when::STRAY_ELSE)),
        other => {
            return Err(syn::Error::new(keyword.span(), format!("unknown directive `{other}`: expected {ITEMS}")));
        }
    }
    Ok(())
}

fn reference(
    input: ParseStream<'_>,
    keyword: &Ident,
    kernel: &mut Kernel,
    reading: &Reading,
    report: &mut Report,
) -> syn::Result<()> {
    let closure: syn::ExprClosure = input.parse()?;
    if input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
    }
    if !reading.place().is_empty() && reading.depends_on_arch() {
        report.error(
            keyword.span(),
            "what a kernel computes is the same on every architecture: move `reference` out of this `when`",
        );
    }
    if kernel.reference.is_some() {
        report.error(keyword.span(), "a kernel has one reference; this is the second");
    } else if closure.inputs.len() == 3 {
        kernel.reference = Some(closure);
    } else {
        report.error(
            closure.inputs_begin.span,
            "a reference takes three arguments, `|case, i, j|`: the operands, the output row and the output column",
        );
        kernel.complete = false;
    }
    Ok(())
}

/// `require mc * kc <= 65536;`
fn requirement(input: ParseStream<'_>, keyword: Ident, report: &mut Report) -> syn::Result<Requirement> {
    let condition = input.parse()?;
    semicolon(input, "a requirement", STARTS, report)?;
    Ok(Requirement { keyword, condition })
}

/// The first words of items.
const STARTS: &[&str] = &["axes", "operand", "tunable", "window", "require", "when", "schedule", "reference"];
const ITEMS: &str = "`axes`, `operand`, `tunable`, `window`, `require`, `when`, `schedule` or `reference`";

fn unreadable(kernel: &mut Kernel, name: Ident, error: syn::Error) -> syn::Result<()> {
    kernel.unreadable.push(name);
    Err(error)
}
