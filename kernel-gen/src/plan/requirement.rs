//! Requirements of a kernel on the tile sizes of one plan.

use std::collections::HashSet;

use super::{
    PlanError,
    error::{Broken, number},
};
use crate::{
    Arch,
    ir::{Kernel, Quantity, Requirement},
};

/// Most legal values tried on either side of a refused one when a way out is looked for.
const WAY_OUT_STEPS: usize = 4096;

/// What requirements depend on beside the tile sizes.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub kernel: &'a Kernel,
    pub arch: Arch,
    pub axes: &'a [u32],
    pub vtcm_bytes: u32,
}

impl<'a> Setting<'a> {
    /// `None` for what a window takes if it leaves 64 bits.
    fn value(&self, quantity: Quantity, tiles: &[u32]) -> Option<u64> {
        // Limits have been checked: every index is in range, and there is one extent for each axis.
        Some(u64::from(match quantity {
            Quantity::Tunable(tunable) => tiles[tunable.0],
            Quantity::Axis(axis) => self.axes[axis.0],
            Quantity::VtcmBytes => self.vtcm_bytes,
            Quantity::WindowBytes(window) => return self.kernel.windows[window.0].bytes(tiles),
        }))
    }

    fn all(&self, requirement: &Requirement, tiles: &[u32]) -> Option<Vec<u64>> {
        requirement.uses.iter().map(|&q| self.value(q, tiles)).collect()
    }

    pub fn holds(&self, requirement: &Requirement, tiles: &[u32]) -> bool {
        self.all(requirement, tiles).is_some_and(|values| requirement.holds.of(&values))
    }

    /// The first requirement these tile sizes break.
    pub fn broken(&self, tiles: &[u32]) -> Option<&'a Requirement> {
        self.kernel.requirements.iter().find(|r| !self.holds(r, tiles))
    }

    /// What to say of a requirement that these tile sizes break.
    pub fn blame(&self, requirement: &Requirement, tiles: &[u32]) -> Broken {
        let one = |quantity: &Quantity| {
            let name = match *quantity {
                Quantity::Tunable(tunable) => self.kernel.tunables[tunable.0].name.clone(),
                Quantity::Axis(axis) => self.kernel.axes[axis.0].name.clone(),
                Quantity::VtcmBytes => "vtcm_bytes".into(),
                Quantity::WindowBytes(window) => format!("window_bytes({})", self.kernel.windows[window.0].name),
            };
            format!("{name}={}", number(self.value(*quantity, tiles)))
        };
        Broken {
            text: requirement.text.clone(),
            position: requirement.source,
            values: requirement.uses.iter().map(one).collect::<Vec<_>>().join(", "),
            sides: requirement.sides.zip(self.all(requirement, tiles)).map(|(sides, values)| sides.of(&values)),
        }
    }

    /// Refuses tile sizes that break a requirement.
    pub fn check(&self, tiles: &[u32]) -> Result<(), PlanError> {
        let Some(requirement) = self.broken(tiles) else {
            return Ok(());
        };
        Err(PlanError::Requirement {
            kernel: self.kernel.name.clone(),
            arch: self.arch,
            broken: Box::new(self.blame(requirement, tiles)),
            way_out: self.way_out(requirement, tiles),
        })
    }

    /// The nearest value of one tunable that would make all requirements hold.
    fn way_out(&self, requirement: &Requirement, tiles: &[u32]) -> String {
        let mut tunables: Vec<usize> =
            requirement.uses.iter().flat_map(|q| q.tunables(self.kernel)).map(|tunable| tunable.0).collect();
        let mut named = HashSet::new();
        tunables.retain(|&tunable| named.insert(tunable));
        let mut ways = Vec::new();
        for index in tunables {
            let tunable = &self.kernel.tunables[index];
            let mut trial = tiles.to_vec();
            let mut satisfied = |value: &u32| {
                trial[index] = *value;
                self.broken(&trial).is_none()
            };
            let smaller = std::iter::successors(tunable.at_most(tiles[index].saturating_sub(1)), |v| {
                tunable.at_most(v.saturating_sub(1))
            });
            let smaller = smaller.take(WAY_OUT_STEPS).find(&mut satisfied);
            let larger = std::iter::successors(tunable.at_least(tiles[index].saturating_add(1)), |v| {
                tunable.at_least(v.saturating_add(1))
            });
            let larger = larger.take(WAY_OUT_STEPS).find(&mut satisfied);
            ways.extend(smaller.into_iter().chain(larger).map(|value| format!("{}={value}", tunable.name)));
        }
        if ways.is_empty() {
            "no other value of one tile alone satisfies all requirements: let the planner choose".into()
        } else {
            format!("take {}, or let the planner choose", ways.join(" or "))
        }
    }
}
