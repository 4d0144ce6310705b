//! How much of everything a plan and a request carry.

use proc_macro2::Ident;

use crate::{
    report::Report,
    rules::limits::{MAX_AXES, MAX_OPERANDS, MAX_STAGES, MAX_TUNABLES, MAX_WINDOWS},
    tree::Kernel,
};

pub(super) fn check(kernel: &Kernel, report: &mut Report) {
    let axes = kernel.axes.iter().map(|a| &a.name).collect();
    let operands = kernel.operands.iter().map(|o| &o.name).collect();
    let tunables = kernel.tunables.iter().map(|t| &t.name).collect();
    let windows = kernel.windows.iter().map(|w| &w.name).collect();
    let lists: [(&str, Vec<&Ident>, usize); 4] = [
        ("axes", axes, MAX_AXES),
        ("operands", operands, MAX_OPERANDS),
        ("tunables", tunables, MAX_TUNABLES),
        ("windows", windows, MAX_WINDOWS),
    ];
    for (what, names, limit) in lists {
        if let Some(first_too_many) = names.get(limit) {
            report.error(
                first_too_many.span(),
                format!("this kernel has {} {what}, a plan carries {limit}: merge or remove some", names.len()),
            );
        }
    }
    for window in &kernel.windows {
        let (name, stages) = (&window.name, window.stages);
        if stages == 0 {
            report.error(
                window.stages_span,
                format!("window `{name}` has 0 stages: it needs 1, which is what it has without `stages`"),
            );
        } else if stages > MAX_STAGES {
            report.error(
                window.stages_span,
                format!(
                    "window `{name}` has {stages} stages, a window has at most {MAX_STAGES}: take 2, which hide a load behind \
                     the work on the block before, or 3"
                ),
            );
        }
    }
}
