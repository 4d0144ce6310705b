//! Axes and their roles.

use proc_macro2::Ident;
use syn::{Token, braced, ext::IdentExt, parse::ParseStream};

use super::{
    recover::{error_here, words},
    word::one_of,
};
use crate::{
    report::Report,
    tree::{Axis, AxisRole, Kernel},
    version::Direction,
};

/// `axes { m: token, n: out, k: in }`, or `axes { m: token, f: free, r: contracted }` in a kernel for two directions.
pub(super) fn axes(input: ParseStream<'_>, kernel: &mut Kernel, report: &mut Report) -> syn::Result<()> {
    let content;
    braced!(content in input);
    while !content.is_empty() {
        if let Err(error) = axis(&content, kernel, report) {
            report.syntax(error);
            kernel.complete = false;
            // What cannot be read may have been the other axes.
            kernel.unreadable.extend(words(&content));
        }
    }
    Ok(())
}

/// `m: token,`
fn axis(content: ParseStream<'_>, kernel: &mut Kernel, report: &mut Report) -> syn::Result<()> {
    let name: Ident = content.parse().map_err(|_| error_here(content, "expected `AXIS: ROLE`"))?;
    let colon = content.parse::<Token![:]>();
    let colon = colon.map_err(|_| error_here(content, format!("expected `: ROLE` behind axis `{name}`")));
    match colon.and_then(|_| axis_role(content, kernel.version.direction, report)) {
        Ok((role, contracted)) => {
            if contracted {
                kernel.contracted = Some(name.clone());
            }
            kernel.axes.push(Axis { name, role });
        }
        Err(error) => {
            report.syntax(error);
            kernel.unreadable.push(name);
            kernel.complete = false;
        }
    }
    if content.is_empty() || content.peek(Token![,]) {
        content.parse::<Option<Token![,]>>()?;
        return Ok(());
    }
    let error = error_here(content, "expected `,` before this: one stands between two axes");
    if content.peek(Ident::peek_any) {
        // The next axis.
        report.syntax(error);
        return Ok(());
    }
    Err(error)
}

/// The role of an axis, and whether it is summed over by declaration.
fn axis_role(
    input: ParseStream<'_>,
    direction: Option<Direction>,
    report: &mut Report,
) -> syn::Result<(AxisRole, bool)> {
    const ONE: &[(&str, AxisRole)] = &[("token", AxisRole::Token), ("out", AxisRole::Out), ("in", AxisRole::In)];
    let two = |free, contracted| [("token", AxisRole::Token), ("free", free), ("contracted", contracted)];
    let word = input.fork().call(Ident::parse_any).map(|word| word.to_string()).unwrap_or_default();
    let elsewhere = match direction {
        None if ["free", "contracted"].contains(&word.as_str()) => {
            "`free` and `contracted` are roles in a kernel `for forward, input_grad`: here the axes are `out` and `in`"
        }
        Some(_) if ["out", "in"].contains(&word.as_str()) => {
            "which axis is `out` and which is `in` depends on the direction: in this kernel they are `free` and \
             `contracted`, and `out` and `in` stand for them where the weight is indexed"
        }
        _ => "",
    };
    if !elsewhere.is_empty() {
        report.syntax(error_here(input, elsewhere));
        input.call(Ident::parse_any)?;
        // As if forward had been meant, where `out` is free, so that one mistake is one.
        let free = ["out", "free"].contains(&word.as_str());
        let out = free == (direction != Some(Direction::InputGrad));
        return Ok((if out { AxisRole::Out } else { AxisRole::In }, false));
    }
    let (role, word) = match direction {
        None => one_of(input, "axis role", ONE)?,
        Some(Direction::Forward) => one_of(input, "axis role", &two(AxisRole::Out, AxisRole::In))?,
        Some(Direction::InputGrad) => one_of(input, "axis role", &two(AxisRole::In, AxisRole::Out))?,
    };
    Ok((role, word == "contracted"))
}
