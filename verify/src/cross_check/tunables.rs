//! Legal tile sizes of a kernel.

use kernel_gen::ir::Tunable;
use kernel_gen::{Plan, PlanError, Verified, plan};

use super::{Tiles, Trial};

/// VTCM of the models a cross-check opens.
pub(super) const VTCM_BYTES: u32 = 8 << 20;

/// The legal values of a tunable up to `largest`, ascending; its smallest one if all are larger.
pub(super) fn values(tunable: &Tunable, largest: u32) -> Vec<u32> {
    let mut values = Vec::new();
    let mut next = tunable.smallest();
    while let Some(value) = next.filter(|&v| values.is_empty() || v <= largest) {
        values.push(value);
        next = tunable.at_least(value + 1);
    }
    values
}

/// The plan of a case.
pub(super) fn plan(kernel: &Verified, trial: &Trial) -> Result<Plan, Box<PlanError>> {
    let kernel = kernel.on(trial.arch());
    let mut axes: Vec<u32> = trial.extents.iter().map(|&e| e as u32).collect();
    if let Some(tokens) = axes.first_mut() {
        *tokens += trial.spare_rows as u32;
    }
    let mut tiles = match &trial.tiles {
        Tiles::Planned { vtcm_bytes } => return Ok(plan::solve(kernel, trial.arch(), &axes, *vtcm_bytes)?),
        Tiles::Given(tiles) => tiles.clone(),
    };
    loop {
        match Plan::with_tunables(kernel, trial.arch(), &axes, VTCM_BYTES, &tiles) {
            Err(PlanError::Capacity { .. } | PlanError::Requirement { .. }) => {}
            other => return Ok(other?),
        }
        if !reduce(kernel, &mut tiles) {
            return Ok(plan::solve(kernel, trial.arch(), &axes, VTCM_BYTES)?);
        }
    }
}

/// Takes the largest tile that has a smaller legal value down to it.
fn reduce(kernel: &Verified, tiles: &mut [u32]) -> bool {
    let tunables = &kernel.kernel().tunables;
    let smaller = |index: usize, value: u32| tunables[index].at_most(value.saturating_sub(1));
    let candidate = (0..tiles.len()).filter(|&i| smaller(i, tiles[i]).is_some()).max_by_key(|&i| tiles[i]);
    match candidate.and_then(|i| Some((i, smaller(i, tiles[i])?))) {
        Some((index, value)) => {
            tiles[index] = value;
            true
        }
        None => false,
    }
}
