//! Requirements that decide on tile sizes, and leave some on every architecture.

use super::{Diagnostic, Rule};
use crate::{
    Arch,
    ir::{AxisRole, Kernel, Quantity, Requirement, Tunable},
    rules::{
        conflict::{Condition, conflict, most_candidates},
        limits::MAX_EXTENT,
    },
};

/// What each depends on.
pub(super) fn check(kernel: &Kernel, found: &mut Vec<Diagnostic>) {
    for requirement in &kernel.requirements {
        let Requirement { text, uses, source, .. } = requirement;
        let token = uses.iter().find_map(|quantity| match quantity {
            Quantity::Axis(axis) => kernel.axes.get(axis.0).filter(|a| a.role == AxisRole::Token),
            _ => None,
        });
        if let Some(axis) = token {
            found.push(Diagnostic::new(
                Rule::Tile,
                *source,
                format!("`require {text}` depends on the token axis, `{}`", axis.name),
                "write it on the tile of that axis: a row's bits are the same whatever a request has room for",
            ));
        }
        if !uses.iter().any(|quantity| matches!(quantity, Quantity::Tunable(_) | Quantity::WindowBytes(_))) {
            found.push(Diagnostic::new(
                Rule::Tile,
                *source,
                format!("`require {text}` depends on no tile size"),
                "name a tunable, or drop it: a plan could not satisfy it by any choice, only refuse shapes",
            ));
        }
    }
}

/// Those that need no shape must leave candidates, on every architecture.
pub(super) fn satisfiable(kernel: &Kernel, found: &mut Vec<Diagnostic>) {
    let by_arch: Vec<_> =
        Arch::ALL.iter().filter_map(|&arch| Some((arch, contradiction(kernel.on(arch), arch)?))).collect();
    let everywhere = by_arch.len() == Arch::ALL.len() && by_arch.windows(2).all(|pair| pair[0].1 == pair[1].1);
    for (arch, mut diagnostic) in by_arch {
        if everywhere {
            found.push(diagnostic);
            return;
        }
        diagnostic.message.insert_str(0, &format!("on {arch}: "));
        found.push(diagnostic);
    }
}

fn contradiction(kernel: &Kernel, arch: Arch) -> Option<Diagnostic> {
    let (mut judged, mut conditions) = (Vec::new(), Vec::new());
    for requirement in &kernel.requirements {
        if let Some(condition) = condition(kernel, requirement, arch) {
            judged.push(requirement);
            conditions.push(condition);
        }
    }
    let candidates: Vec<_> = kernel.tunables.iter().map(candidates).collect();
    let blamed = conflict(&candidates, &conditions)?;
    let texts: Vec<_> = blamed.iter().map(|&index| format!("`require {}`", judged[index].text)).collect();
    let message = match texts.as_slice() {
        [one] => format!("{one} refuses every candidate"),
        [one, other] => format!("{one} and {other} contradict each other: no candidates satisfy both"),
        more => format!("no candidates satisfy {} together", more.join(", ")),
    };
    let source = blamed.last().map_or(kernel.source, |&last| judged[last].source);
    let help =
        "allow other candidates, loosen one, or put what only one architecture needs into `when v79` or `when v81`";
    Some(Diagnostic::new(Rule::Tile, source, message, help))
}

/// A requirement that depends on tile sizes and the architecture's VTCM alone.
fn condition<'k>(kernel: &'k Kernel, requirement: &'k Requirement, arch: Arch) -> Option<Condition<'k>> {
    let mut tunables = Vec::new();
    for quantity in &requirement.uses {
        match quantity {
            Quantity::Axis(_) => return None,
            Quantity::WindowBytes(window) if window.0 >= kernel.windows.len() => return None,
            other => tunables.extend(other.tunables(kernel).iter().map(|t| t.0)),
        }
    }
    if tunables.iter().any(|&index| index >= kernel.tunables.len()) {
        return None;
    }
    let value = move |quantity: &Quantity, tiles: &[u32]| match quantity {
        Quantity::Tunable(tunable) => Some(tiles[tunable.0].into()),
        Quantity::WindowBytes(window) => kernel.windows[window.0].bytes(tiles),
        Quantity::Axis(_) | Quantity::VtcmBytes => Some(arch.vtcm_bytes().into()),
    };
    let holds = move |tiles: &[u32]| {
        let values: Option<Vec<u64>> = requirement.uses.iter().map(|quantity| value(quantity, tiles)).collect();
        values.is_some_and(|values| requirement.holds.of(&values))
    };
    Some(Condition { tunables, holds: Box::new(holds) })
}

/// The legal values of a tunable, cut where [`conflict`] stops looking.
fn candidates(tunable: &Tunable) -> Vec<u32> {
    let values = std::iter::successors(tunable.smallest(), |v| tunable.at_least(v.checked_add(1)?));
    values.take_while(|&v| v <= MAX_EXTENT).take(most_candidates()).collect()
}
