//! What a kernel's structure says about its axes: the planner and the lowering need it.

use super::{Diagnostic, Rule, placed::Placed};
use crate::ir::{AxisId, AxisRole, Kernel, Statement, StepKind, TunableId, WindowId};

/// Which axis and tunable plays which part.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub token: AxisId,
    /// The axis summed over.
    pub contraction: AxisId,
    /// The tile of each axis.
    pub tile_of: Vec<TunableId>,
}

impl Facts {
    /// The axis a tunable tiles. A verified kernel has exactly one for each tunable.
    pub fn axis_of(&self, tunable: TunableId) -> Option<AxisId> {
        self.tile_of.iter().position(|&t| t == tunable).map(AxisId)
    }

    /// The axes of a window, by its extents.
    pub fn window_axes(&self, kernel: &Kernel, window: WindowId) -> Option<[AxisId; 2]> {
        let [rows, cols] = kernel.windows.get(window.0)?.extents;
        Some([self.axis_of(rows)?, self.axis_of(cols)?])
    }

    pub fn of(kernel: &Kernel, found: &mut Vec<Diagnostic>) -> Option<Facts> {
        let token = token_axis(kernel, found);
        let tile_of = tiles(kernel, found);
        let contraction = contraction(kernel, tile_of.as_deref(), found);
        Some(Facts { token: token?, contraction: contraction?, tile_of: tile_of? })
    }
}

fn token_axis(kernel: &Kernel, found: &mut Vec<Diagnostic>) -> Option<AxisId> {
    let tokens: Vec<usize> =
        kernel.axes.iter().enumerate().filter(|(_, a)| a.role == AxisRole::Token).map(|(i, _)| i).collect();
    match tokens.as_slice() {
        [0] => Some(AxisId(0)),
        [_] => {
            found.push(Diagnostic {
                rule: Rule::Axes,
                message: format!("the token axis of kernel `{}` is not its first", kernel.name),
                help: "declare it first: a request may fill axis 0 only in part".into(),
                source: kernel.source,
            });
            None
        }
        other => {
            found.push(Diagnostic {
                rule: Rule::Axes,
                message: format!("kernel `{}` has {} token axes", kernel.name, other.len()),
                help: "declare exactly one axis `: token`: a request computes a range of its rows".into(),
                source: kernel.source,
            });
            None
        }
    }
}

/// The tile of each axis: the tunable of the loops over it.
fn tiles(kernel: &Kernel, found: &mut Vec<Diagnostic>) -> Option<Vec<TunableId>> {
    fn walk(kernel: &Kernel, body: &[Statement], tile_of: &mut [Option<TunableId>], found: &mut Vec<Diagnostic>) {
        for statement in body {
            let Statement::Loop(l) = statement else {
                continue;
            };
            if let Some(slot) = tile_of.get_mut(l.axis.0) {
                if slot.is_some_and(|t| t != l.tile) {
                    found.push(Diagnostic {
                        rule: Rule::Tile,
                        message: format!("axis `{}` is tiled by two tunables", kernel.axes[l.axis.0].name),
                        help: "use one tunable for every loop over an axis".into(),
                        source: l.source,
                    });
                }
                *slot = Some(l.tile);
            }
            walk(kernel, &l.body, tile_of, found);
        }
    }
    let mut tile_of = vec![None; kernel.axes.len()];
    walk(kernel, &kernel.schedule, &mut tile_of, found);
    for (axis, tile) in kernel.axes.iter().zip(&tile_of) {
        if tile.is_none() {
            found.push(Diagnostic {
                rule: Rule::Loops,
                message: format!("no loop walks axis `{}`", axis.name),
                help: format!("add `for … in tiles({}, TILE)` to the schedule", axis.name),
                source: axis.source,
            });
        }
    }
    tile_of.into_iter().collect()
}

fn contraction(kernel: &Kernel, tile_of: Option<&[TunableId]>, found: &mut Vec<Diagnostic>) -> Option<AxisId> {
    let tile_of = tile_of?;
    let mut contraction = None;
    for placed in Placed::all(&kernel.schedule) {
        let StepKind::Multiply { data, weights, .. } = placed.step.kind else {
            continue;
        };
        let run = |w: WindowId| kernel.windows.get(w.0).map(|w| w.extents[1]);
        let (Some(data_run), Some(weights_run)) = (run(data), run(weights)) else {
            continue;
        };
        let axis = tile_of.iter().position(|&t| t == data_run).map(AxisId);
        if data_run != weights_run || contraction.is_some_and(|c| Some(c) != axis) {
            found.push(Diagnostic {
                rule: Rule::Tile,
                message: "the operands of this multiply are summed over different tiles".into(),
                help: "the second extent of both windows is the contraction: give both the same tunable, and every \
                       multiply of a kernel the same axis"
                    .into(),
                source: placed.step.source,
            });
        }
        contraction = contraction.or(axis);
    }
    if contraction.is_none() {
        found.push(Diagnostic {
            rule: Rule::Dataflow,
            message: format!("kernel `{}` multiplies nothing", kernel.name),
            help: "add a `multiply OUT <- DATA * WEIGHTS;` step".into(),
            source: kernel.source,
        });
    }
    contraction
}
