//! What the rules look at: the kernel, its facts, its steps in order, and who fills which window.

use super::{Facts, placed::Placed};
use crate::ir::{AxisId, Kernel, OperandId, StepKind, WindowId, WindowLayout};

pub(super) struct View<'k> {
    pub kernel: &'k Kernel,
    pub facts: &'k Facts,
    pub steps: Vec<Placed<'k>>,
}

impl<'k> View<'k> {
    pub fn new(kernel: &'k Kernel, facts: &'k Facts) -> Self {
        View { kernel, facts, steps: Placed::all(&kernel.schedule) }
    }

    /// Positions in [`Self::steps`] of the steps that fill a window.
    pub fn writers(&self, window: WindowId) -> Vec<usize> {
        self.positions(|kind| kind.writes() == Some(window))
    }

    /// Positions of the steps that read a window.
    pub fn readers(&self, window: WindowId) -> Vec<usize> {
        self.positions(|kind| kind.reads().contains(&window))
    }

    fn positions(&self, wanted: impl Fn(&StepKind) -> bool) -> Vec<usize> {
        self.steps.iter().enumerate().filter(|(_, p)| wanted(&p.step.kind)).map(|(i, _)| i).collect()
    }

    /// The step that fills a window; `None` also when several do, which is another rule's error.
    pub fn writer(&self, window: WindowId) -> Option<&Placed<'k>> {
        match self.writers(window).as_slice() {
            [one] => self.steps.get(*one),
            _ => None,
        }
    }

    /// The step a window's elements come from, behind any conversions.
    pub fn first_writer(&self, window: WindowId) -> Option<&Placed<'k>> {
        let mut window = window;
        // A conversion chain longer than the list of windows is a cycle.
        for _ in 0..=self.kernel.windows.len() {
            let writer = self.writer(window)?;
            match writer.step.kind.converts() {
                Some(from) => window = from,
                None => return Some(writer),
            }
        }
        None
    }

    /// The operand whose elements a window holds, through any conversions.
    pub fn origin(&self, window: WindowId) -> Option<OperandId> {
        self.first_writer(window)?.step.kind.operand().map(|(operand, _)| operand)
    }

    /// The axes of a window's extents.
    pub fn axes(&self, window: WindowId) -> Option<[AxisId; 2]> {
        self.facts.window_axes(self.kernel, window)
    }

    /// The pair axis of a window of HMX tiles: p of element (p, q).
    pub fn pair_axis(&self, window: WindowId) -> Option<AxisId> {
        let [first, second] = self.axes(window)?;
        match self.kernel.windows[window.0].layout {
            WindowLayout::ActivationTiles | WindowLayout::OutputTiles => Some(first),
            WindowLayout::WeightTiles => Some(second),
            WindowLayout::RowMajor | WindowLayout::Tiles(_) | WindowLayout::Blocks(_) => None,
        }
    }

    pub fn axis_name(&self, axis: AxisId) -> &'k str {
        &self.kernel.axes[axis.0].name
    }

    pub fn window_name(&self, window: WindowId) -> &'k str {
        &self.kernel.windows[window.0].name
    }
}
