//! Items of a kernel.

use proc_macro2::Ident;
use syn::{Token, braced, parse::ParseStream};

use super::{
    axes, declaration,
    recover::{semicolon, skip_item},
    schedule,
    when::{self, Reading},
    word::any_word,
};
use crate::{
    near::nearest,
    report::Report,
    tree::{Definitions, Kernel, Requirement},
};

/// The items of a kernel, or of a branch of it.
pub(super) fn items(
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
    let written = any_word(input, ITEMS)?;
    let keyword = meant(&written, report);
    match keyword.to_string().as_str() {
        "axes" => {
            if !reading.place().is_empty() {
                let message =
                    "`axes` cannot stand in a `when`: callers give a kernel one shape; name the axes once, outside";
                report.error(keyword.span(), message);
            }
            axes::axes(input, kernel, report)?;
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
            // What it declares is not unknown as well.
            kernel.unreadable.extend(input.fork().parse::<Ident>());
            return Err(syn::Error::new(keyword.span(), format!("unknown directive `{other}`: expected {ITEMS}")));
        }
    }
    Ok(())
}

/// The first word of an item; a near one is a mistake, and read as if it were right.
fn meant(written: &Ident, report: &mut Report) -> Ident {
    let word = written.to_string();
    match nearest(&word, STARTS.iter().copied()) {
        Some(meant) if meant != word => {
            report.error(written.span(), format!("unknown directive `{word}`: did you mean `{meant}`?"));
            Ident::new(meant, written.span())
        }
        _ => written.clone(),
    }
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
pub(super) const STARTS: &[&str] =
    &["axes", "operand", "tunable", "window", "require", "when", "schedule", "reference"];
const ITEMS: &str = "`axes`, `operand`, `tunable`, `window`, `require`, `when`, `schedule` or `reference`";

fn unreadable(kernel: &mut Kernel, name: Ident, error: syn::Error) -> syn::Result<()> {
    kernel.unreadable.push(name);
    Err(error)
}
