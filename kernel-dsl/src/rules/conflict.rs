//! Conditions on tile sizes that no candidates satisfy together.

/// Most choices of tile sizes tried for one set of conditions; beyond that nothing is said.
const MOST_CHOICES: usize = 1 << 16;

/// Whether values of all tunables satisfy a condition.
pub type Holds<'a> = Box<dyn Fn(&[u32]) -> bool + 'a>;

/// A condition on some tunables.
pub struct Condition<'a> {
    /// Tunables it depends on.
    pub tunables: Vec<usize>,
    /// The condition.
    pub holds: Holds<'a>,
}

/// Conditions that no candidates satisfy together: one if there is such a one, else two, else a few of which none can be left
/// out. The candidates of a tunable are looked at up to a limit, so lists may be cut behind [`most_candidates`].
pub fn conflict(candidates: &[Vec<u32>], conditions: &[Condition<'_>]) -> Option<Vec<usize>> {
    let all = 0..conditions.len();
    let one = all.clone().map(|a| vec![a]);
    let two = all.clone().flat_map(|b| (0..b).map(move |a| vec![a, b]));
    let none_satisfies = |set: &Vec<usize>| contradictory(candidates, conditions, set);
    let mut found = one.chain(two).chain([all.collect()]).find(none_satisfies)?;
    for index in found.clone() {
        let rest: Vec<usize> = found.iter().copied().filter(|&other| other != index).collect();
        if none_satisfies(&rest) {
            found = rest;
        }
    }
    Some(found)
}

/// How many candidates of a tunable [`conflict`] needs to see.
pub const fn most_candidates() -> usize {
    MOST_CHOICES + 1
}

fn contradictory(candidates: &[Vec<u32>], conditions: &[Condition<'_>], set: &[usize]) -> bool {
    let mut tunables: Vec<usize> = set.iter().flat_map(|&index| conditions[index].tunables.iter().copied()).collect();
    tunables.sort_unstable();
    tunables.dedup();
    let count = tunables.iter().try_fold(1_usize, |product, &t| product.checked_mul(candidates[t].len()));
    // A tunable without candidates is a mistake of its own.
    if set.is_empty() || count.is_none_or(|count| count == 0 || count > MOST_CHOICES) {
        return false;
    }
    !choices(candidates, &tunables, |tiles| set.iter().all(|&index| (conditions[index].holds)(tiles)))
}

/// Shows `visit` every choice of candidates for some tunables, until it is content; whether it was. The other tunables are 0,
/// and none of them may be without candidates.
pub fn choices(candidates: &[Vec<u32>], tunables: &[usize], mut visit: impl FnMut(&[u32]) -> bool) -> bool {
    let mut at = vec![0; tunables.len()];
    let mut tiles = vec![0; candidates.len()];
    loop {
        for (&tunable, &place) in tunables.iter().zip(&at) {
            tiles[tunable] = candidates[tunable][place];
        }
        if visit(&tiles) {
            return true;
        }
        let Some(next) = (0..at.len()).find(|&i| at[i] + 1 < candidates[tunables[i]].len()) else {
            return false;
        };
        at[next] += 1;
        at[..next].fill(0);
    }
}
