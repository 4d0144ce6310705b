//! Which tunable tiles which axis: what the loops say, and where they say two things, what the windows hold.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span};

use crate::tree::{Kernel, Loop, Statement, StepKind};

/// A loop whose tile is that of another axis.
pub(super) struct WrongTile {
    pub span: Span,
    pub message: String,
}

/// The axis of each tunable.
pub(super) struct Tiles<'k> {
    axis_of: BTreeMap<String, &'k Ident>,
    /// Tunables of which nobody knows the axis.
    unclear: Vec<&'k Ident>,
    /// Axes that loops walk.
    pub walked: Vec<&'k Ident>,
    pub wrong: Vec<WrongTile>,
}

impl<'k> Tiles<'k> {
    pub fn of(kernel: &'k Kernel) -> Self {
        let body = kernel.schedule.as_deref().unwrap_or_default();
        let mut loops = Vec::new();
        collect(body, &mut loops);
        loops.retain(|l| kernel.axes.iter().any(|a| a.name == l.axis));
        let mut tiles = Tiles {
            axis_of: BTreeMap::new(),
            unclear: Vec::new(),
            walked: loops.iter().map(|l| &l.axis).collect(),
            wrong: Vec::new(),
        };
        let held = held(kernel, body);
        for l in &loops {
            let walks = loops.iter().filter(|other| other.tile == l.tile).map(|other| &other.axis);
            let votes = |axis: &Ident| held.iter().filter(|(t, a)| **t == l.tile && *a == axis).count();
            // The first of those with most.
            let own = walks.rev().max_by_key(|axis| votes(axis)).unwrap_or(&l.axis);
            tiles.axis_of.entry(l.tile.to_string()).or_insert(own);
        }
        tiles.exchange(&held);
        let wrong: Vec<&Loop> =
            loops.iter().copied().filter(|l| tiles.axis_of[&l.tile.to_string()] != &l.axis).collect();
        for l in wrong {
            tiles.misread(kernel, l, &held);
        }
        tiles
    }

    /// The axis a tunable tiles, if that is clear.
    pub fn axis(&self, tunable: &Ident) -> Option<&'k Ident> {
        let known = self.axis_of.get(&tunable.to_string()).copied();
        known.filter(|_| !self.unclear.contains(&tunable))
    }

    /// Two loops of which each has the tile of the other, by most of the windows.
    fn exchange(&mut self, held: &[(&'k Ident, &'k Ident)]) {
        let votes = |tunable: &str, axis: &Ident| held.iter().filter(|(t, a)| *t == tunable && *a == axis).count();
        let tiled: Vec<(String, &Ident)> = self.axis_of.iter().map(|(t, axis)| (t.clone(), *axis)).collect();
        for (one, axis) in &tiled {
            for (other, other_axis) in tiled.iter().filter(|(other, _)| other < one) {
                let own = [votes(one, axis), votes(other, other_axis)];
                let exchanged = [votes(one, other_axis), votes(other, axis)];
                if exchanged[0] > own[0] && exchanged[1] > own[1] && exchanged.iter().sum::<usize>() > 2 {
                    self.axis_of.insert(one.clone(), other_axis);
                    self.axis_of.insert(other.clone(), axis);
                }
            }
        }
    }

    /// Whether a tunable is the tile of an axis.
    pub fn tiles(&self, tunable: &Ident) -> bool {
        self.axis_of.contains_key(&tunable.to_string())
    }

    /// The axis of a loop with the tile of another one, and the tunable that was meant.
    fn misread(&mut self, kernel: &'k Kernel, l: &'k Loop, held: &[(&'k Ident, &'k Ident)]) {
        let free = |tunable: &&Ident| {
            self.axis_of.get(&tunable.to_string()).is_none_or(|axis| **axis == l.axis)
                && kernel.tunables.iter().any(|t| t.name == **tunable)
        };
        let own = self.axis_of.iter().find(|(_, axis)| **axis == &l.axis).map(|(tunable, _)| tunable.clone());
        let held = held.iter().filter(|(_, axis)| **axis == l.axis).map(|(tunable, _)| *tunable).find(free);
        let mut unused = kernel.tunables.iter().map(|t| &t.name).filter(|t| !self.axis_of.contains_key(&t.to_string()));
        let only = unused.next().filter(|_| unused.next().is_none());
        let meant = own.or(held.or(only).map(Ident::to_string));
        let way_out = match &meant {
            Some(tunable) => format!("write `tiles({}, {tunable})`", l.axis),
            None => format!("declare one for `{}`", l.axis),
        };
        let message = format!(
            "tunable `{}` is the tile of axis `{}`, and this loop walks `{}`; each axis has a tunable of its own: {way_out}",
            l.tile,
            self.axis_of[&l.tile.to_string()],
            l.axis
        );
        self.wrong.push(WrongTile { span: l.tile.span(), message });
        match meant {
            Some(tunable) => drop(self.axis_of.insert(tunable, &l.axis)),
            // What it says of windows is wrong for one of them.
            None => self.unclear.push(&l.tile),
        }
    }
}

fn collect<'k>(body: &'k [Statement], loops: &mut Vec<&'k Loop>) {
    for statement in body {
        if let Statement::Loop(l) = statement {
            loops.push(l);
            collect(&l.body, loops);
        }
    }
}

/// Extents of windows that a block of an operand goes into, with the axes of it.
fn held<'k>(kernel: &'k Kernel, body: &'k [Statement]) -> Vec<(&'k Ident, &'k Ident)> {
    let mut pairs = Vec::new();
    for statement in body {
        match statement {
            Statement::Loop(l) => pairs.extend(held(kernel, &l.body)),
            Statement::Step(step) => {
                let (StepKind::Load { to, from } | StepKind::Pack { to, from, .. }) = &step.kind else {
                    continue;
                };
                let window = kernel.windows.iter().find(|w| w.name == *to);
                let operand = kernel.operands.iter().find(|o| o.name == from.operand);
                if let (Some(window), Some(operand)) = (window, operand) {
                    pairs.extend(window.extents.iter().zip(&operand.axes));
                }
            }
        }
    }
    pairs
}
