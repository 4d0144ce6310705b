//! What remains to be simplified once proptest is done: it shrinks each part of a case once, and a part that had to stay
//! large while another was complicated is not tried again.

use hexagon_runtime::Overflow;
use kernel_gen::{Arch, Verified};

use super::{Tiles, Trial, tunables};
use crate::family::RowFamily;

/// Cases that are simpler than `trial` in one part, the boldest first.
pub(super) fn simpler(kernel: &Verified, trial: &Trial) -> Vec<Trial> {
    let mut cases = Vec::new();
    let mut try_case = |change: &dyn Fn(&mut Trial)| {
        let mut case = trial.clone();
        change(&mut case);
        case.extents = tunables::whole_blocks(kernel, case.extents);
        if case != *trial {
            cases.push(case);
        }
    };
    // With the numbers of several seeds: those of one may be zeros, which are right.
    if trial.families != [RowFamily::SmallIntegers] {
        for seed in [trial.seed, 0, 1, 2, 3, 4, 5] {
            try_case(&|t| (t.families, t.seed) = (vec![RowFamily::SmallIntegers], seed));
        }
    }
    try_case(&|t| t.families.truncate(1));
    try_case(&|t| (t.magnitude, t.weight_magnitude) = (0, 0));
    try_case(&|t| t.spare_rows = 0);
    try_case(&|t| t.first_strip = 0);
    try_case(&|t| t.overflow = Overflow::default());
    try_case(&|t| t.arch = Arch::V79.number());
    for axis in 0..trial.extents.len() {
        let extent = trial.extents[axis];
        for smaller in [1, extent.div_ceil(2), extent.saturating_sub(1) / 32 * 32 + 1, extent.saturating_sub(1).max(1)]
        {
            try_case(&|t| t.extents[axis] = smaller.min(extent));
        }
    }
    let smallest: Vec<Option<u32>> =
        kernel.on(trial.arch()).kernel().tunables.iter().map(|tunable| tunable.smallest()).collect();
    if let Some(all) = smallest.iter().copied().collect::<Option<Vec<u32>>>() {
        if matches!(trial.tiles, Tiles::Planned { .. }) {
            try_case(&|t| t.tiles = Tiles::Given(all.clone()));
        }
        for (index, &value) in all.iter().enumerate() {
            try_case(&|t| {
                if let Tiles::Given(tiles) = &mut t.tiles {
                    tiles[index] = value;
                }
            });
        }
    }
    for seed in 0..3 {
        if trial.seed > seed {
            try_case(&|t| t.seed = seed);
        }
    }
    cases
}
