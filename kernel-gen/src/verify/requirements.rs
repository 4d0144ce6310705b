//! Requirements that decide on tile sizes, and leave some on every architecture.

use super::{Diagnostic, Rule};
use crate::{
    Arch,
    ir::{AxisRole, Kernel, Quantity, Requirement, Tunable},
    plan::Share,
    rules::{
        conflict::{Condition, choices, conflict, most_candidates},
        limits::MAX_EXTENT,
        refusal::{Outcome, Refusal},
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
    let judged: Vec<_> = kernel.requirements.iter().filter_map(|r| Judged::new(kernel, r, arch)).collect();
    let conditions: Vec<_> = judged.iter().map(Judged::condition).collect();
    let candidates: Vec<_> = kernel.tunables.iter().map(candidates).collect();
    let blamed = conflict(&candidates, &conditions)?;
    let source = blamed.last().map_or(kernel.source, |&last| judged[last].requirement.source);
    if let [one] = *blamed {
        let (message, help) = judged[one].without_room(&candidates).unwrap_or_else(|| judged[one].refusal(&candidates));
        return Some(Diagnostic::new(Rule::Tile, source, message, help));
    }
    let texts: Vec<_> = blamed.iter().map(|&index| format!("`require {}`", judged[index].requirement.text)).collect();
    let message = match texts.as_slice() {
        [one, other] => format!("{one} and {other} contradict each other: no candidates satisfy both"),
        more => format!("no candidates satisfy {} together", more.join(", ")),
    };
    let help =
        "allow other candidates, loosen one, or put what only one architecture needs into `when v79` or `when v81`";
    Some(Diagnostic::new(Rule::Tile, source, message, help))
}

/// A requirement that depends on tile sizes and the architecture's VTCM alone.
struct Judged<'k> {
    kernel: &'k Kernel,
    requirement: &'k Requirement,
    arch: Arch,
    /// Tunables it depends on, by their index.
    tunables: Vec<usize>,
}

impl<'k> Judged<'k> {
    fn new(kernel: &'k Kernel, requirement: &'k Requirement, arch: Arch) -> Option<Self> {
        let mut tunables = Vec::new();
        for quantity in &requirement.uses {
            match quantity {
                Quantity::Axis(_) => return None,
                Quantity::WindowBytes(window) if window.0 >= kernel.windows.len() => return None,
                other => tunables.extend(other.tunables(kernel).iter().map(|t| t.0)),
            }
        }
        tunables.sort_unstable();
        tunables.dedup();
        let known = tunables.last().is_some_and(|&last| last < kernel.tunables.len());
        known.then_some(Judged { kernel, requirement, arch, tunables })
    }

    fn value(&self, quantity: &Quantity, tiles: &[u32]) -> Option<u64> {
        match quantity {
            Quantity::Tunable(tunable) => Some(tiles[tunable.0].into()),
            Quantity::WindowBytes(window) => self.kernel.windows[window.0].bytes(tiles),
            Quantity::Axis(_) | Quantity::VtcmBytes => Some(self.arch.vtcm_bytes().into()),
        }
    }

    fn values(&self, tiles: &[u32]) -> Option<Vec<u64>> {
        self.requirement.uses.iter().map(|quantity| self.value(quantity, tiles)).collect()
    }

    fn condition(&self) -> Condition<'_> {
        let holds = |tiles: &[u32]| self.values(tiles).is_some_and(|values| self.requirement.holds.of(&values));
        Condition { tunables: self.tunables.clone(), holds: Box::new(holds) }
    }

    /// `nc=64, kc=512`
    fn tiles(&self, tiles: &[u32]) -> String {
        let one = |&tunable: &usize| format!("{}={}", self.kernel.tunables[tunable].name, tiles[tunable]);
        self.tunables.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// What one requirement refuses, with the values nearest to what it wants.
    fn refusal(&self, candidates: &[Vec<u32>]) -> (String, String) {
        let names: Vec<String> = self.kernel.tunables.iter().map(|t| t.name.clone()).collect();
        let outcome = |tiles: &[u32]| {
            let values = self.values(tiles);
            let others = self.requirement.uses.iter().filter_map(|quantity| match quantity {
                Quantity::VtcmBytes => Some(format!("vtcm_bytes={}", self.arch.vtcm_bytes())),
                Quantity::WindowBytes(window) => {
                    let name = &self.kernel.windows[window.0].name;
                    Some(self.value(quantity, tiles).map_or(String::new(), |v| format!("window_bytes({name})={v}")))
                }
                _ => None,
            });
            Outcome {
                holds: values.as_ref().and_then(|values| self.requirement.holds.value(values)),
                sides: self.requirement.sides.zip(values).map(|(sides, values)| sides.of(&values)),
                values: [self.tiles(tiles)].into_iter().chain(others).collect::<Vec<_>>().join(", "),
            }
        };
        let Judged { requirement, tunables, .. } = self;
        Refusal { text: &requirement.text, tunables, names: &names, candidates, outcome: &outcome }.explain()
    }

    /// Windows that do not fit VTCM with any candidates, which no requirement can help.
    fn without_room(&self, candidates: &[Vec<u32>]) -> Option<(String, String)> {
        let shares = |tiles: &[u32]| {
            let windows = self.requirement.uses.iter().filter_map(|quantity| match quantity {
                Quantity::WindowBytes(window) => Some(&self.kernel.windows[window.0]),
                _ => None,
            });
            windows.map(|window| Share::of(window, tiles)).collect::<Vec<_>>()
        };
        let mut least: Option<(u64, Vec<u32>)> = None;
        choices(candidates, &self.tunables, |tiles| {
            let bytes = shares(tiles).iter().fold(0_u64, |sum, share| sum.saturating_add(share.bytes()));
            if least.as_ref().is_none_or(|(fewest, _)| bytes < *fewest) {
                least = Some((bytes, tiles.to_vec()));
            }
            false
        });
        let (bytes, tiles) = least?;
        let vtcm = self.arch.vtcm_bytes();
        if bytes <= vtcm.into() {
            return None;
        }
        let shares = shares(&tiles);
        let windows =
            shares.iter().map(|share| format!("`{}` needs {share}", share.window)).collect::<Vec<_>>().join(", ");
        let message = format!(
            "`require {}` has no room: {windows} with {}, the smallest candidates, {bytes} B in all; {vtcm} B of VTCM are \
             all there is",
            self.requirement.text,
            self.tiles(&tiles)
        );
        Some((message, "allow smaller tiles, or declare fewer stages".into()))
    }
}

/// The legal values of a tunable, cut where [`conflict`] stops looking.
fn candidates(tunable: &Tunable) -> Vec<u32> {
    let values = std::iter::successors(tunable.smallest(), |v| tunable.at_least(v.checked_add(1)?));
    values.take_while(|&v| v <= MAX_EXTENT).take(most_candidates()).collect()
}
