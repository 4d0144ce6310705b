//! Candidates of tunables.

use crate::tree::{Candidates, Tunable};

/// Edge of an HMX tile.
const TILE: u32 = 32;

/// What is wrong with the candidates of a tunable.
pub(super) fn no_tile(tunable: &Tunable) -> Option<String> {
    let step = tunable.multiple_of;
    if step == 0 || !step.is_multiple_of(TILE) {
        return Some(format!(
            "steps by `multiple_of {step}`, HMX takes tiles of {TILE}: write `multiple_of {}`",
            step.max(1).next_multiple_of(TILE)
        ));
    }
    match &tunable.candidates {
        Candidates::List(values) if values.is_empty() => Some(format!("has no candidate: add a multiple of {step}")),
        Candidates::List(values) => {
            let bad = values.iter().find(|&&value| value == 0 || value % step != 0)?;
            let way_out = bad.max(&1).checked_next_multiple_of(step).map_or(step, |next| next);
            Some(format!("cannot be {bad}: a tile is a positive multiple of {step}; take {way_out}"))
        }
        Candidates::Range(0, max) if *max >= step => {
            Some(format!("cannot be 0: a tile is a positive multiple of {step}; start at {step}, `{step}..={max}`"))
        }
        Candidates::Range(min, max) => {
            let first = u64::from((*min).max(1)).next_multiple_of(u64::from(step));
            let none =
                format!("has no candidate in {min}..={max}: the first multiple of {step} from there on is {first}");
            (first > u64::from(*max)).then_some(none)
        }
    }
}
