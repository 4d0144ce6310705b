//! The parser. It reports a mistake, skips to the end of the item it is in, and reads on.

mod declaration;
mod recover;
mod schedule;
mod word;

use proc_macro2::{Ident, TokenStream};
use syn::{
    Attribute, Token, Visibility, braced,
    parse::{ParseStream, Parser},
};

use crate::{
    report::Report,
    tree::{Kernel, TileFormat},
};
use recover::{error_here, skip_item};
use word::any_word;

/// Every kernel of one macro call.
pub(crate) fn kernels(tokens: TokenStream, report: &mut Report) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let parsed = (|input: ParseStream<'_>| {
        while !input.is_empty() {
            match kernel(input, report) {
                Ok(kernel) => kernels.push(kernel),
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
    kernels
}

fn kernel(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Kernel> {
    let docs = input.call(Attribute::parse_outer)?;
    for attribute in &docs {
        if !attribute.path().is_ident("doc") && !attribute.path().is_ident("allow") && !attribute.path().is_ident("cfg")
        {
            report.error(
                attribute.pound_token.span,
                "unknown directive: a kernel takes doc comments, `#[allow]` and `#[cfg]`",
            );
        }
    }
    let visibility: Visibility = input.parse()?;
    let keyword = any_word(input, "`kernel NAME { … }`")?;
    if keyword != "kernel" {
        return Err(syn::Error::new(keyword.span(), format!("expected `kernel NAME {{ … }}`, found `{keyword}`")));
    }
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
        unreadable: Vec::new(),
        complete: true,
    };
    let content;
    braced!(content in input);
    while !content.is_empty() {
        if let Err(error) = item(&content, &mut kernel, report) {
            report.syntax(error);
            kernel.complete = false;
            skip_item(&content);
        }
    }
    Ok(kernel)
}

fn item(input: ParseStream<'_>, kernel: &mut Kernel, report: &mut Report) -> syn::Result<()> {
    let keyword = any_word(input, ITEMS)?;
    match keyword.to_string().as_str() {
        "axes" => {
            declaration::axes(input, kernel, report)?;
        }
        "operand" => {
            let name: Ident = input.parse()?;
            match declaration::operand(input, name.clone(), &TileFormat::known()) {
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
            match declaration::window(input, name.clone(), &TileFormat::known()) {
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
