//! A kernel that differs by architecture is one kernel to its callers, and sound on each.

use super::{Diagnostic, Rule};
use crate::{Arch, ir::Kernel};

/// One name and one list of axes: a request does not know the architecture.
pub(super) fn check(kernel: &Kernel, found: &mut Vec<Diagnostic>) {
    let mut error = |message: String, help: &str| {
        found.push(Diagnostic::new(Rule::Arch, kernel.source, message, help));
    };
    for (index, variant) in kernel.variants.iter().enumerate() {
        let (arch, other) = (variant.arch, &variant.kernel);
        if kernel.variants[..index].iter().any(|v| v.arch == arch) {
            error(format!("kernel `{}` has two variants for {arch}", kernel.name), "keep one");
        }
        if !other.variants.is_empty() {
            error(
                format!("the variant of kernel `{}` for {arch} has variants itself", kernel.name),
                "a variant is the kernel of one architecture",
            );
        }
        let axes = |k: &Kernel| k.axes.iter().map(|a| (a.name.clone(), a.role)).collect::<Vec<_>>();
        if other.name != kernel.name || axes(other) != axes(kernel) {
            error(
                format!("kernel `{}` has another name or other axes on {arch}", kernel.name),
                "callers give it one shape: name and axes are the same on every architecture",
            );
        }
    }
    if kernel.archs().is_empty() {
        error(
            format!("kernel `{}` has a variant for every architecture", kernel.name),
            "the kernel itself is what the architectures without a variant run: leave one without",
        );
    }
}

/// What is broken everywhere once, the rest with the architectures it is broken on.
pub(super) fn merge<'a>(
    kernel: &Kernel,
    own: Vec<Diagnostic>,
    others: impl Iterator<Item = (Arch, &'a [Diagnostic])>,
) -> Vec<Diagnostic> {
    let mut merged: Vec<(Diagnostic, Vec<Arch>)> = own.into_iter().map(|d| (d, kernel.archs())).collect();
    for (arch, found) in others {
        for diagnostic in found {
            match merged.iter_mut().find(|(d, _)| d == diagnostic) {
                Some((_, archs)) => archs.push(arch),
                None => merged.push((diagnostic.clone(), vec![arch])),
            }
        }
    }
    merged
        .into_iter()
        .map(|(mut diagnostic, archs)| {
            if archs.len() < Arch::ALL.len() && diagnostic.rule != Rule::Arch {
                let list: Vec<_> = archs.iter().map(Arch::to_string).collect();
                diagnostic.message.insert_str(0, &format!("on {}: ", list.join(", ")));
            }
            diagnostic
        })
        .collect()
}
