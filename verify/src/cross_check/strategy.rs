//! How cases are drawn. Shrinking goes to few rows, few columns, small tiles, the plainest data.

use hexagon_runtime::Overflow;
use kernel_gen::{Arch, Verified};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

use super::{Tiles, Trial, tunables};
use crate::family::RowFamily;

/// Largest tile drawn: beyond the extents only strides change.
const LARGEST_TILE: u32 = 256;
/// Share of the cases with one long axis, its length at most, in largest extents, and the others' beside it.
const LONG_AXES: f64 = 0.1;
const LONG: usize = 8;
const SHORT: usize = 40;

pub(super) fn trials(kernel: &Verified, largest: usize) -> impl Strategy<Value = Trial> + use<> {
    Union::new(Arch::ALL.map(|arch| on(arch, kernel.on(arch), largest).boxed()))
}

/// Cases on one architecture, whose kernel may have tile sizes of its own.
fn on(arch: Arch, kernel: &Verified, largest: usize) -> impl Strategy<Value = Trial> + use<> {
    let extent = prop_oneof![4 => 1..=largest, 1 => select(vec![31usize, 32, 33, 64])];
    let axes = kernel.kernel().axes.len();
    // Now and then one axis is long, so that a limit of the schedule or of the reference between the two shows.
    let long = weighted(LONG_AXES, (0..axes, largest..=largest * LONG));
    let kernel_of_cases = kernel.clone();
    (
        Just(arch.number()),
        (vec(extent, axes), long).prop_map(|(extents, long)| lengthened(extents, long)),
        prop_oneof![Just(0usize), 1..=70usize],
        prop_oneof![3 => Just(0usize), 1 => 1..=2usize],
        tiles(arch, kernel),
        vec(families(), 1..4),
        -24..=15i32,
        prop_oneof![2 => -6..=0i32, 1 => 1..=8i32],
        select(Overflow::ALL.to_vec()),
        any::<u64>(),
    )
        .prop_map(
            move |(
                arch,
                extents,
                spare_rows,
                first_strip,
                tiles,
                families,
                magnitude,
                weight_magnitude,
                overflow,
                seed,
            )| {
                Trial {
                    arch,
                    extents: tunables::whole_blocks(&kernel_of_cases, extents),
                    spare_rows,
                    first_strip,
                    tiles,
                    families,
                    magnitude,
                    weight_magnitude,
                    overflow,
                    seed,
                }
            },
        )
}

/// The extents with one of them long, and the others short enough for that.
fn lengthened(mut extents: Vec<usize>, long: Option<(usize, usize)>) -> Vec<usize> {
    if let Some((axis, extent)) = long {
        extents.iter_mut().for_each(|extent| *extent = (*extent).min(SHORT));
        extents[axis] = extent;
    }
    extents
}

/// Small integers first: a wrong result is easiest to read there.
fn families() -> impl Strategy<Value = RowFamily> {
    let mut all = RowFamily::ALL.to_vec();
    all.sort_by_key(|f| *f != RowFamily::SmallIntegers);
    select(all)
}

fn tiles(arch: Arch, kernel: &Verified) -> impl Strategy<Value = Tiles> + use<> {
    let given: Vec<_> = kernel
        .kernel()
        .tunables
        .iter()
        .map(|tunable| {
            let values = tunables::values(tunable, LARGEST_TILE);
            let small = values[..values.len().min(3)].to_vec();
            prop_oneof![2 => select(small), 1 => select(values)]
        })
        .collect();
    let budgets = if fits_small_vtcm(arch, kernel) { vec![8u32 << 20, 128 << 10, 64 << 10] } else { vec![8 << 20] };
    prop_oneof![
        3 => given.prop_map(Tiles::Given),
        1 => select(budgets).prop_map(|vtcm_bytes| Tiles::Planned { vtcm_bytes }),
    ]
}

/// Whether the smallest tiles leave the planner a choice in the small budgets.
fn fits_small_vtcm(arch: Arch, kernel: &Verified) -> bool {
    let axes = vec![32; kernel.kernel().axes.len()];
    kernel_gen::plan::solve(kernel, arch, &axes, 64 << 10).is_ok()
}
