//! The parser. It reports a mistake, skips to the end of the item it is in, and reads on.

mod declaration;
mod definition;
mod recover;
mod schedule;
mod word;

use std::rc::Rc;

use proc_macro2::{Ident, TokenStream};
use syn::{
    Attribute, Token, Visibility, braced,
    parse::{ParseStream, Parser},
};

use crate::{
    report::Report,
    tree::{BlockFormat, Definitions, Kernel, TileFormat},
};
use recover::{error_here, skip_item};
use word::any_word;

/// Every definition and kernel of one macro call.
pub(crate) fn kernels(tokens: TokenStream, report: &mut Report) -> (Definitions, Vec<Kernel>) {
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
) -> syn::Result<Option<Kernel>> {
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
        let Some(layout) = definition::layout(input, &name, report)? else {
            return Ok(None);
        };
        const TAKEN: &[&str] =
            &["f32", "f16", "row_major", "vector", "activation_tiles", "weight_tiles", "output_tiles", "f16_tiles"];
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

fn kernel(
    input: ParseStream<'_>,
    docs: Vec<Attribute>,
    visibility: Visibility,
    definitions: &Definitions,
    report: &mut Report,
) -> syn::Result<Kernel> {
    let name: Ident = input.parse()?;
    let mut kernel = Kernel {
        docs,
        visibility,
        name,
        axes: Vec::new(),
        operands: Vec::new(),
        tunables: Vec::new(),
        windows: Vec::new(),
        schedule: None,
        reference: None,
        steps: definitions.steps.clone(),
        unreadable: definitions.unreadable.clone(),
        complete: true,
    };
    let content;
    braced!(content in input);
    while !content.is_empty() {
        if let Err(error) = item(&content, &mut kernel, &definitions.formats(), report) {
            report.syntax(error);
            kernel.complete = false;
            skip_item(&content);
        }
    }
    Ok(kernel)
}

fn item(input: ParseStream<'_>, kernel: &mut Kernel, formats: &[TileFormat], report: &mut Report) -> syn::Result<()> {
    let keyword = any_word(input, ITEMS)?;
    match keyword.to_string().as_str() {
        "axes" => {
            declaration::axes(input, kernel, report)?;
        }
        "operand" => {
            let name: Ident = input.parse()?;
            match declaration::operand(input, name.clone(), formats) {
                Ok(operand) => kernel.operands.push(operand),
                Err(error) => return unreadable(kernel, name, error),
            }
        }
        "tunable" => {
            let name: Ident = input.parse()?;
            match declaration::tunable(input, name.clone()) {
                Ok(tunable) => kernel.tunables.push(tunable),
                Err(error) => return unreadable(kernel, name, error),
            }
        }
        "window" => {
            let name: Ident = input.parse()?;
            match declaration::window(input, name.clone(), formats) {
                Ok(window) => kernel.windows.push(window),
                Err(error) => return unreadable(kernel, name, error),
            }
        }
        "schedule" => {
            let content;
            braced!(content in input);
            let (statements, complete) = schedule::statements(&content, report);
            kernel.complete &= complete;
            if kernel.schedule.is_some() {
                report.error(keyword.span(), "a kernel has one schedule; this is the second");
            } else {
                kernel.schedule = Some(statements);
            }
        }
        "reference" => {
            let closure: syn::ExprClosure = input.parse()?;
            if input.peek(Token![;]) {
                input.parse::<Token![;]>()?;
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
        }
        other => {
            return Err(syn::Error::new(keyword.span(), format!("unknown directive `{other}`: expected {ITEMS}")));
        }
    }
    Ok(())
}

const ITEMS: &str = "`axes`, `operand`, `tunable`, `window`, `schedule` or `reference`";

fn unreadable(kernel: &mut Kernel, name: Ident, error: syn::Error) -> syn::Result<()> {
    kernel.unreadable.push(name);
    Err(error)
}

fn semicolon(input: ParseStream<'_>, after: &str) -> syn::Result<()> {
    if input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
        return Ok(());
    }
    Err(error_here(input, format!("expected `;` after {after}")))
}
