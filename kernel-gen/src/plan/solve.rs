//! Choosing tile sizes.
//!
//! 1. The contraction tile decides how many FP16 partial sums a result has, and so its bits. It is chosen from the weight's
//!    extents, the architecture and the VTCM alone, never from the token bucket: as few blocks as fit beside
//!    [`REFERENCE_ROWS`] token rows, then evenly split.
//! 2. The token tile decides how often every weight is loaded and turned into tiles: as few blocks as fit.
//! 3. The remaining tiles set the size of a pipeline stage: as large as still fits, up to [`STAGE_TILE`](super::search::STAGE_TILE).
//!
//! Blocks of one axis are made equal, so that the last one is not a stub.
//!
//! A kernel with requirements gets the first tile sizes in this order of preference that satisfy them. None may name the token
//! axis, so that the contraction tile does not depend on the bucket then either.

use super::{
    Plan, PlanError, layout,
    requirement::Setting,
    search::{Search, Target},
};
use crate::{
    Arch, Verified,
    ir::{AxisId, Kernel, Tunable},
};

/// Token rows the contraction tile has to leave room for. At this many rows turning a weight tile into FP16 (about 43
/// vector packets) is hidden behind its use (4 HMX cycles for each of 16 row tiles).
const REFERENCE_ROWS: u32 = 512;
/// Smallest preferred tile of an axis that is neither token nor contraction.
const SMALL_TILE: u32 = 64;
/// A plan for `axes` (in declaration order; the token axis holds the bucket) within `vtcm_bytes` of VTCM.
///
/// # Errors
/// Extents out of range, no legal tile size, or no choice of tile sizes that fits.
pub fn solve(verified: &Verified, arch: Arch, axes: &[u32], vtcm_bytes: u32) -> Result<Plan, PlanError> {
    let verified = verified.on(arch);
    let kernel = verified.kernel();
    layout::check_axes(kernel, axes)?;
    layout::check_blocks(kernel, axes)?;
    let facts = verified.facts();
    let slot = |axis: AxisId| facts.tile_of[axis.0].0;
    let (token, contraction) = (slot(facts.token), slot(facts.contraction));
    let others: Vec<AxisId> =
        (0..axes.len()).map(AxisId).filter(|&a| a != facts.token && a != facts.contraction).collect();

    let fits = |tiles: &[u32]| layout::bytes(kernel, tiles) <= layout::budget(vtcm_bytes);
    let smallest: Vec<u32> = kernel.tunables.iter().map(|t| smallest(kernel, t)).collect::<Result<_, _>>()?;
    if !fits(&smallest) {
        let advice = "these are the smallest tiles the kernel allows; allow smaller ones, or use fewer stages";
        let shares = layout::shares(kernel, &smallest);
        return Err(layout::capacity_error(kernel, arch, vtcm_bytes, shares, advice.into()));
    }

    let mut tiles = smallest.clone();
    for &axis in &others {
        tiles[slot(axis)] = cover(&kernel.tunables[slot(axis)], axes[axis.0].min(SMALL_TILE));
    }
    if !fits(&tiles) {
        tiles.clone_from(&smallest);
    }

    // The contraction, independent of axes[token]: beside the reference rows if requirements allow it.
    let room = largest(&kernel.tunables[token], REFERENCE_ROWS, |value| {
        let mut trial = tiles.clone();
        trial[token] = value;
        fits(&trial)
    });
    let order: Vec<(usize, u32, Target)> = [(contraction, axes[facts.contraction.0], Target::FewBlocks)]
        .into_iter()
        .chain([(token, axes[facts.token.0], Target::FewBlocks)])
        .chain(others.iter().map(|&axis| (slot(axis), axes[axis.0], Target::Stage)))
        .collect();
    let setting = Setting { kernel, arch, axes, vtcm_bytes };
    let mut search = Search::new(setting, &fits, &order);
    // Less room for the other tiles leaves a requirement on the contraction more to choose from.
    let with = |tiles: &[u32], room: u32| {
        let mut tiles = tiles.to_vec();
        tiles[token] = room;
        tiles
    };
    let starts = room.map(|room| with(&tiles, room)).into_iter();
    for start in starts.chain([with(&tiles, smallest[token]), smallest.clone()]) {
        if let Some(found) = search.from(&start, smallest[token]) {
            return Plan::with_tunables(verified, arch, axes, vtcm_bytes, &found);
        }
    }
    Err(search.refusal(&smallest))
}

fn smallest(kernel: &Kernel, tunable: &Tunable) -> Result<u32, PlanError> {
    tunable.smallest().ok_or_else(|| PlanError::Tunable {
        kernel: kernel.name.clone(),
        tunable: tunable.name.clone(),
        value: 0,
        allowed: "a candidate that is a multiple of the tunable's `multiple_of`; it has none".into(),
    })
}

/// Smallest legal value that covers `extent`, else the largest one.
fn cover(tunable: &Tunable, extent: u32) -> u32 {
    tunable.at_least(extent).or_else(|| tunable.largest()).unwrap_or(tunable.granule())
}

/// The largest legal value that fits, up to the one that covers `extent`. What fits stays fitting when it shrinks, so the
/// bound can be halved towards.
pub(super) fn largest(tunable: &Tunable, extent: u32, mut fits: impl FnMut(u32) -> bool) -> Option<u32> {
    let mut low = tunable.smallest().filter(|&value| fits(value))?;
    let mut high = cover(tunable, extent).max(low);
    while low < high {
        let middle = high - (high - low) / 2;
        if tunable.at_most(middle).is_some_and(&mut fits) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    tunable.at_most(low)
}
