//! Tile sizes and the loops that use them.

use super::{Diagnostic, Rule, placed::Placed};
use crate::ir::{Candidates, Kernel, Statement, TILE, TunableId};

pub(super) fn check(kernel: &Kernel, found: &mut Vec<Diagnostic>) {
    candidates(kernel, found);
    let mut walked = Vec::new();
    loops(kernel, &kernel.schedule, &mut Vec::new(), &mut walked, found);
    for (index, tunable) in kernel.tunables.iter().enumerate() {
        if !walked.contains(&TunableId(index)) {
            found.push(Diagnostic::new(
                Rule::Tile,
                tunable.source,
                format!("tunable `{}` is the tile of no loop", tunable.name),
                format!("use it in `tiles(AXIS, {})` or remove it", tunable.name),
            ));
        }
    }
    for placed in Placed::all(&kernel.schedule) {
        let Some((operand, block)) = placed.step.kind.operand() else {
            continue;
        };
        for axis in block {
            if placed.loop_over(axis).is_none() {
                found.push(Diagnostic::new(
                    Rule::Loops,
                    placed.step.source,
                    format!(
                        "`{}` takes a block of `{}` along axis `{}`, but stands outside the loops over it",
                        placed.step.kind.keyword(),
                        kernel.operands[operand.0].name,
                        kernel.axes[axis.0].name
                    ),
                    "move the step into the loop, or the loop around the step",
                ));
            }
        }
    }
}

fn candidates(kernel: &Kernel, found: &mut Vec<Diagnostic>) {
    for tunable in &kernel.tunables {
        let mut error = |message: String, help: String| {
            found.push(Diagnostic::new(Rule::Tile, tunable.source, message, help));
        };
        if tunable.multiple_of == 0 || !tunable.multiple_of.is_multiple_of(TILE) {
            error(
                format!(
                    "tunable `{}` has a granule of {}, HMX takes tiles of {TILE}",
                    tunable.name, tunable.multiple_of
                ),
                format!("write `multiple_of {TILE}` or a multiple of it"),
            );
            continue;
        }
        if let Candidates::List(values) = &tunable.candidates {
            for value in values.iter().filter(|&&v| !tunable.allows(v)) {
                error(
                    format!(
                        "candidate {value} of tunable `{}` is not a multiple of {}",
                        tunable.name,
                        tunable.granule()
                    ),
                    match value.max(&1).checked_next_multiple_of(tunable.granule()) {
                        Some(next) => format!("remove it, or take {next}"),
                        None => "remove it".into(),
                    },
                );
            }
        }
        let granule = tunable.granule();
        match &tunable.candidates {
            Candidates::Range { min: 0, max } if *max >= granule => error(
                format!("tunable `{}` cannot be 0: a tile is a positive multiple of {granule}", tunable.name),
                format!("start at {granule}, `{granule}..={max}`"),
            ),
            Candidates::Range { min, max } if tunable.smallest().is_none() => error(
                format!("tunable `{}` has no candidate: no multiple of {granule} lies in {min}..={max}", tunable.name),
                match min.max(&1).checked_next_multiple_of(granule) {
                    Some(next) => format!("the first from {min} on is {next}: let the range reach it"),
                    None => format!("take a range that holds a positive multiple of {granule}"),
                },
            ),
            Candidates::List(values) if values.is_empty() => error(
                format!("tunable `{}` has no candidate: its list is empty", tunable.name),
                format!("add a positive multiple of {granule}"),
            ),
            _ => {}
        }
    }
}

fn loops(
    kernel: &Kernel,
    body: &[Statement],
    around: &mut Vec<usize>,
    walked: &mut Vec<TunableId>,
    found: &mut Vec<Diagnostic>,
) {
    for statement in body {
        let Statement::Loop(l) = statement else {
            continue;
        };
        let axis = &kernel.axes[l.axis.0].name;
        if around.contains(&l.axis.0) {
            found.push(Diagnostic::new(
                Rule::Loops,
                l.source,
                format!("loop `{}` walks axis `{axis}` inside another loop over it", l.name),
                "one loop per axis: tiles of tiles would visit blocks twice",
            ));
        }
        if l.body.is_empty() {
            found.push(Diagnostic::new(
                Rule::Loops,
                l.source,
                format!("loop `{}` does nothing", l.name),
                "add steps or remove it",
            ));
        }
        walked.push(l.tile);
        around.push(l.axis.0);
        loops(kernel, &l.body, around, walked, found);
        around.pop();
    }
}
