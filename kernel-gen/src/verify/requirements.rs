//! Requirements that can be judged without a shape: those on a single tunable.

use super::{Diagnostic, Rule};
use crate::{
    Arch,
    ir::{Kernel, Quantity, Requirement, Tunable, TunableId},
    plan::MAX_EXTENT,
};

/// Most candidates tried; a tunable with more is judged when a plan is made.
const MOST_CANDIDATES: usize = 1 << 16;

/// Every tunable of what `arch` runs must keep a candidate.
pub(super) fn check(kernel: &Kernel, arch: Arch, found: &mut Vec<Diagnostic>) {
    for (index, tunable) in kernel.tunables.iter().enumerate() {
        let own: Vec<&Requirement> = kernel.requirements.iter().filter(|r| on(r, TunableId(index))).collect();
        if own.is_empty() {
            continue;
        }
        let Some(refused) = none_left(tunable, &own, arch) else {
            continue;
        };
        found.push(Diagnostic::new(
            Rule::Tile,
            refused.source,
            format!(
                "tunable `{}` has no legal candidate on {arch}: `require {}` refuses the last of them",
                tunable.name, refused.text
            ),
            "allow other candidates, or put what only one architecture needs into `when v79` or `when v81`",
        ));
    }
}

/// Whether a requirement depends on this tunable and nothing else but the architecture's VTCM.
fn on(requirement: &Requirement, tunable: TunableId) -> bool {
    requirement.uses.contains(&Quantity::Tunable(tunable))
        && requirement.uses.iter().all(|q| matches!(q, Quantity::VtcmBytes) || *q == Quantity::Tunable(tunable))
}

/// The requirement that refuses the last candidate, if none is left.
fn none_left<'k>(tunable: &Tunable, requirements: &[&'k Requirement], arch: Arch) -> Option<&'k Requirement> {
    let (mut next, mut refused) = (tunable.smallest(), None);
    for _ in 0..MOST_CANDIDATES {
        let Some(value) = next.filter(|&v| v <= MAX_EXTENT) else {
            return refused;
        };
        let holds = |r: &Requirement| {
            let values: Vec<u64> = r
                .uses
                .iter()
                .map(|q| if *q == Quantity::VtcmBytes { arch.vtcm_bytes().into() } else { value.into() })
                .collect();
            r.holds.of(&values)
        };
        match requirements.iter().find(|r| !holds(r)) {
            None => return None,
            Some(requirement) => refused = Some(*requirement),
        }
        next = value.checked_add(1).and_then(|v| tunable.at_least(v));
    }
    None
}
