//! The parser. It reports a mistake, skips to the end of the item it is in, and reads on.

mod axes;
mod declaration;
mod definition;
mod item;
mod recover;
mod roles;
mod schedule;
mod step;
mod when;
mod word;

use std::rc::Rc;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use syn::{
    Attribute, Visibility, braced,
    parse::{ParseStream, Parser},
};

use crate::{
    near::way_out,
    report::Report,
    tree::{BlockFormat, Definitions, Kernel},
    version::{Arch, Direction, Version},
};
use item::items;
use recover::{error_here, skip_item};
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
        let way_out = way_out(&keyword.to_string(), ["kernel", "layout", "step"], &format!("expected {EXPECTED}"));
        return Err(syn::Error::new(keyword.span(), format!("`{keyword}` is unknown here: {way_out}")));
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
