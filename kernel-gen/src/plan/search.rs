//! The search for tile sizes: in the order of preference, back where a requirement refuses.

use super::{Broken, PlanError, requirement::Setting, solve::largest};
use crate::ir::{Tunable, TunableId};

/// Most choices tried before the search gives up.
const MOST_TRIES: usize = 1 << 18;
/// Largest preferred tile of an axis that is neither token nor contraction: more only delays the first multiply of a
/// pipeline.
pub(super) const STAGE_TILE: u32 = 256;

/// What a tile should be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// As few blocks as fit.
    FewBlocks,
    /// As large as fits, up to [`STAGE_TILE`].
    Stage,
}

pub(super) struct Search<'a, F: Fn(&[u32]) -> bool> {
    setting: Setting<'a>,
    fits: F,
    /// Tunable, extent and target, in the order in which they are decided.
    order: &'a [(usize, u32, Target)],
    tried: usize,
    refused: Option<Broken>,
}

impl<'a, F: Fn(&[u32]) -> bool> Search<'a, F> {
    pub fn new(setting: Setting<'a>, fits: F, order: &'a [(usize, u32, Target)]) -> Self {
        Search { setting, fits, order, tried: 0, refused: None }
    }

    /// The preferred tile sizes that satisfy every requirement. The first tunable in order is decided beside `tiles`, the
    /// others beside the second one at `least`.
    pub fn from(&mut self, tiles: &[u32], least: u32) -> Option<Vec<u32>> {
        let mut found = tiles.to_vec();
        self.decide(&mut found, 0, least).is_ok().then_some(found)
    }

    /// Decides the tunables from `depth` on. Where that fails, the answer is the earlier decisions to blame, one bit each:
    /// changing any other would end the same way.
    fn decide(&mut self, tiles: &mut [u32], depth: usize, least: u32) -> Result<(), u32> {
        let Some(&(index, extent, target)) = self.order.get(depth) else {
            return Ok(());
        };
        let before = tiles.to_vec();
        let own = 1 << depth;
        let candidates = self.candidates(tiles, index, extent, target);
        // Values that do not fit would, beside smaller tiles.
        let mut blamed = if candidates.all() { 0 } else { own - 1 };
        for value in candidates {
            if self.tried >= MOST_TRIES {
                break;
            }
            tiles[index] = value;
            let result = self.allowed(tiles, depth).and_then(|()| {
                if let (0, Some(&(second, ..))) = (depth, self.order.get(1)) {
                    tiles[second] = least;
                }
                self.decide(tiles, depth + 1, least)
            });
            let Err(others) = result else {
                return Ok(());
            };
            tiles.copy_from_slice(&before);
            if others & own == 0 {
                return Err(others);
            }
            blamed |= others & !own;
        }
        Err(blamed)
    }

    /// Whether the requirements hold that can be judged once the tunable at `depth` is decided; else the decisions to blame.
    fn allowed(&mut self, tiles: &[u32], depth: usize) -> Result<(), u32> {
        self.tried += 1;
        let order = self.order;
        let kernel = self.setting.kernel;
        let place = |tunable: TunableId| order.iter().position(|(index, ..)| *index == tunable.0);
        for requirement in &kernel.requirements {
            let places = || requirement.uses.iter().flat_map(|q| q.tunables(kernel)).filter_map(place);
            if places().all(|place| place <= depth) && !self.setting.holds(requirement, tiles) {
                self.refused = Some(self.setting.blame(requirement, tiles));
                return Err(places().fold(0, |blamed, place| blamed | 1 << place));
            }
        }
        Ok(())
    }

    /// Legal values that fit beside `tiles`, the best first: fewest blocks, then smallest, so that blocks are equal.
    fn candidates(&self, tiles: &[u32], index: usize, extent: u32, target: Target) -> Candidates<'a> {
        let tunable = &self.setting.kernel.tunables[index];
        let mut trial = tiles.to_vec();
        let mut fits = |value: u32| {
            trial[index] = value;
            (self.fits)(&trial)
        };
        // The first choice of a kernel without requirements is all it needs, so nothing beyond it is looked for.
        let free = self.setting.kernel.requirements.is_empty();
        let bound = match target {
            Target::FewBlocks if free => extent,
            Target::FewBlocks => u32::MAX,
            Target::Stage => extent.min(STAGE_TILE),
        };
        let ceiling = if free { 0 } else { largest(tunable, u32::MAX, &mut fits).unwrap_or(0) };
        let top = match target {
            Target::FewBlocks => largest(tunable, bound, &mut fits),
            // From the small tile room was kept for.
            Target::Stage => stage(tunable, tiles[index], bound, &mut fits),
        };
        Candidates { tunable, extent, top, next: None, group_end: 0, ceiling, above: top }
    }

    /// Why there is no plan.
    pub fn refusal(self, smallest: &[u32]) -> PlanError {
        let Setting { kernel, arch, vtcm_bytes, .. } = self.setting;
        let first = || kernel.requirements.first().map(|r| self.setting.blame(r, smallest));
        // Without a requirement whatever fits is a plan.
        let nothing = || Broken { text: String::new(), position: kernel.source, values: String::new(), sides: None };
        let broken = Box::new(self.refused.clone().or_else(first).unwrap_or_else(nothing));
        PlanError::Unsatisfied { kernel: kernel.name.clone(), arch, vtcm_bytes, tried: self.tried, broken }
    }
}

/// The largest value from `small` on that fits, up to the first that covers `bound`.
fn stage(tunable: &Tunable, small: u32, bound: u32, fits: &mut impl FnMut(u32) -> bool) -> Option<u32> {
    let mut best = None;
    let mut next = Some(small);
    while let Some(value) = next.filter(|&value| fits(value)) {
        best = Some(value);
        next = if value >= bound { None } else { tunable.at_least(value + 1) };
    }
    best.or_else(|| largest(tunable, small, fits))
}

/// Values of one tunable in order of preference.
struct Candidates<'a> {
    tunable: &'a Tunable,
    extent: u32,
    /// Largest value of the next group: values that give the same number of blocks.
    top: Option<u32>,
    /// Next value of the current group.
    next: Option<u32>,
    group_end: u32,
    /// Values above the first group come last, up to this one.
    ceiling: u32,
    above: Option<u32>,
}

impl Candidates<'_> {
    /// Whether no legal value is too large to fit.
    fn all(&self) -> bool {
        self.tunable.largest().is_none_or(|largest| largest <= self.ceiling)
    }
}

impl Iterator for Candidates<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if let Some(value) = self.next.filter(|&v| v <= self.group_end) {
            self.next = self.tunable.at_least(value + 1);
            return Some(value);
        }
        if let Some(top) = self.top {
            let blocks = self.extent.div_ceil(top);
            let first = self.tunable.at_least(self.extent.div_ceil(blocks)).unwrap_or(top).min(top);
            self.next = self.tunable.at_least(first + 1);
            self.group_end = top;
            self.top = self.tunable.at_most(first - 1);
            return Some(first);
        }
        let value = self.tunable.at_least(self.above? + 1).filter(|&v| v <= self.ceiling)?;
        self.above = Some(value);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Candidates as Legal, Source};

    fn order(legal: Legal, extent: u32, top: u32, ceiling: u32) -> Vec<u32> {
        let tunable = Tunable { name: "t".into(), candidates: legal, multiple_of: 32, source: Source::default() };
        let top = tunable.at_most(top);
        Candidates { tunable: &tunable, extent, top, next: None, group_end: 0, ceiling, above: top }.collect()
    }

    #[test]
    fn equal_blocks_come_first_and_every_legal_value_once() {
        let range = || Legal::Range { min: 32, max: 320 };
        // 300 elements: one block from 320, two from 160 to 288, three from 128, four from 96, five from 64, ten at 32.
        assert_eq!(order(range(), 300, 320, 0), [320, 160, 192, 224, 256, 288, 128, 96, 64, 32]);
        assert_eq!(order(range(), 300, 128, 224), [128, 96, 64, 32, 160, 192, 224]);
        assert_eq!(order(Legal::List(vec![64, 32, 256]), 100, 128, 320), [64, 32, 256]);
        let mut all = order(range(), 7, 320, 320);
        assert_eq!(all[0], 32);
        all.sort_unstable();
        assert_eq!(all, (1..=10).map(|n| n * 32).collect::<Vec<_>>());
    }
}
