//! Which window holds something in which step.

use crate::{
    Plan, Verified, cost,
    ir::{AxisId, Source, WindowId},
    verify::Placed,
};

/// What a step has to do with a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Nothing is in it.
    Free,
    /// It holds what a later step reads.
    Held,
    /// The step fills it.
    Filled,
    /// The step reads it.
    Read,
    /// The stage worked on is free; loads of following blocks may be in flight in the others.
    InFlight,
}

impl Use {
    /// One character of the text map.
    pub const fn mark(self) -> char {
        match self {
            Use::Free => '.',
            Use::Held => '=',
            Use::Filled => 'W',
            Use::Read => 'R',
            Use::InFlight => '~',
        }
    }
}

/// A window through the steps of the schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowUse {
    /// Name.
    pub name: String,
    /// Bytes from the VTCM base.
    pub offset: u32,
    /// Bytes of all stages.
    pub bytes: u32,
    /// Stages.
    pub stages: u32,
    /// One entry per step, in program order.
    pub uses: Vec<Use>,
}

/// VTCM, step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VtcmMap {
    /// What the device grants.
    pub vtcm_bytes: u32,
    /// The steps: label and position.
    pub steps: Vec<(String, Source)>,
    /// The windows in order of their offset.
    pub windows: Vec<WindowUse>,
}

impl VtcmMap {
    /// The map of `kernel` under `plan`, on a device with all the VTCM of the plan's architecture.
    pub fn of(kernel: &Verified, plan: &Plan) -> VtcmMap {
        let kernel = kernel.on(plan.arch);
        let placed = Placed::all(&kernel.kernel().schedule);
        let windows = plan.windows.iter().enumerate().map(|(index, window)| WindowUse {
            name: window.name.clone(),
            offset: window.offset,
            bytes: window.stage_bytes * window.stages,
            stages: window.stages,
            uses: uses(&placed, WindowId(index)),
        });
        VtcmMap {
            vtcm_bytes: plan.arch.vtcm_bytes(),
            steps: placed.iter().map(|p| (cost::label(kernel, &p.step.kind), p.step.source)).collect(),
            windows: windows.collect(),
        }
    }
}

fn uses(placed: &[Placed<'_>], window: WindowId) -> Vec<Use> {
    let writer = placed.iter().position(|p| p.step.kind.writes() == Some(window));
    let reads = |p: &Placed<'_>| p.step.kind.reads().contains(&window);
    let last = writer.map(|w| last_needed(placed, w, &reads));
    placed
        .iter()
        .enumerate()
        .map(|(index, p)| {
            let pipelined = p.loops.iter().any(|l| l.pipeline.contains(&window));
            match (writer, last) {
                (Some(writer), _) if index == writer => Use::Filled,
                _ if reads(p) => Use::Read,
                (Some(writer), Some(last)) if index > writer && index <= last => Use::Held,
                _ if pipelined => Use::InFlight,
                _ => Use::Free,
            }
        })
        .collect()
}

/// The last step that runs before the window is filled again and after which, or after a repetition of which, it is read:
/// a reader inside a loop that does not fill the window keeps it needed to the end of that loop.
fn last_needed(placed: &[Placed<'_>], writer: usize, reads: &impl Fn(&Placed<'_>) -> bool) -> usize {
    let around: Vec<AxisId> = placed[writer].loops.iter().map(|l| l.axis).collect();
    let mut last = writer;
    for (index, reader) in placed.iter().enumerate().skip(writer).filter(|(_, p)| reads(p)) {
        let inner = reader.loops.iter().find(|l| !around.contains(&l.axis));
        let end = inner.map_or(index, |inner| {
            let within = |p: &Placed<'_>| p.loops.iter().any(|l| std::ptr::eq(*l, *inner));
            placed.iter().rposition(within).unwrap_or(index)
        });
        last = last.max(end);
    }
    last
}
