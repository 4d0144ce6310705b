//! Rules that need no sizes. A rule about what is missing is tried only on a kernel that could be read completely.

mod flow;
mod limits;
mod names;
mod requirements;
mod roles;
mod split;
mod sums;
mod tiles;

use std::collections::HashMap;

use proc_macro2::Ident;

use self::tiles::Tiles;

use crate::{
    report::Report,
    tree::{Definitions, HvxStep, Kernel, Loop, Operand, OperandLayout, Statement, Step, StepInput, StepKind, Window},
};

/// Checks one kernel.
pub(crate) fn kernel(kernel: &Kernel, report: &mut Report) {
    names::duplicates(kernel, report);
    if !report.is_empty() {
        return;
    }
    names::check(kernel, report);
    let sound_names = report.is_empty();
    names::in_c(kernel, report);
    limits::check(kernel, report);
    let view = View::new(kernel);
    roles::check(&view, report);
    sums::check(&view, report);
    requirements::check(kernel, report);
    split::check(&view, report);
    if kernel.complete && sound_names {
        flow::check(&view, report);
        names::missing(kernel, report);
    }
}

/// Definitions that no kernel of the macro call uses. Kernels with mistakes may not say what they meant to use.
pub(crate) fn definitions(definitions: &Definitions, kernels: &[Vec<Vec<Kernel>>], report: &mut Report) {
    let kernels: Vec<&Kernel> = kernels.iter().flatten().flatten().collect();
    if !report.is_empty() || kernels.iter().any(|k| !k.complete) {
        return;
    }
    for step in &definitions.steps {
        if !kernels.iter().any(|k| k.applies(&step.name)) {
            report.error(step.name.span(), format!("step `{}` is applied by no kernel below it", step.name));
        }
    }
    for (name, format) in &definitions.layouts {
        let of_operand = |o: &Operand| o.layout == OperandLayout::Tiles(format.clone());
        let of_step = |s: &HvxStep| matches!(&s.input, StepInput::Packed(f, _) if f == format);
        let used =
            kernels.iter().any(|k| k.operands.iter().any(of_operand)) || definitions.steps.iter().any(|s| of_step(s));
        if !used {
            report.error(name.span(), format!("layout `{name}` is used by no kernel below it"));
        }
    }
}

/// A step with the loops around it, from the outermost in.
struct Placed<'k> {
    step: &'k Step,
    loops: Vec<&'k Loop>,
}

impl<'k> Placed<'k> {
    /// The axis a loop variable walks, if the loop is around the step.
    fn axis(&self, variable: &Ident) -> Option<&'k Ident> {
        self.loops.iter().rev().find(|l| l.variable == *variable).map(|l| &l.axis)
    }

    fn loop_over(&self, axis: &Ident) -> Option<&'k Loop> {
        self.loops.iter().copied().find(|l| l.axis == *axis)
    }
}

/// A kernel by name.
struct View<'k> {
    kernel: &'k Kernel,
    operands: HashMap<String, &'k Operand>,
    windows: HashMap<String, &'k Window>,
    tiles: Tiles<'k>,
    steps: Vec<Placed<'k>>,
}

impl<'k> View<'k> {
    fn new(kernel: &'k Kernel) -> Self {
        let mut view = View {
            kernel,
            operands: kernel.operands.iter().map(|o| (o.name.to_string(), o)).collect(),
            windows: kernel.windows.iter().map(|w| (w.name.to_string(), w)).collect(),
            tiles: Tiles::of(kernel),
            steps: Vec::new(),
        };
        if let Some(schedule) = &kernel.schedule {
            view.walk(schedule, &mut Vec::new());
        }
        view
    }

    fn walk(&mut self, body: &'k [Statement], loops: &mut Vec<&'k Loop>) {
        for statement in body {
            match statement {
                Statement::Step(step) => self.steps.push(Placed { step, loops: loops.clone() }),
                Statement::Loop(l) => {
                    loops.push(l);
                    self.walk(&l.body, loops);
                    loops.pop();
                }
            }
        }
    }

    /// Whether `axis` is one of the kernel's.
    fn declares(&self, axis: &Ident) -> bool {
        self.kernel.axes.iter().any(|a| a.name == *axis)
    }

    fn window(&self, name: &Ident) -> Option<&'k Window> {
        self.windows.get(&name.to_string()).copied()
    }

    fn operand(&self, name: &Ident) -> Option<&'k Operand> {
        self.operands.get(&name.to_string()).copied()
    }

    /// The axes of a window's extents.
    fn axes(&self, window: &Window) -> Option<[&'k Ident; 2]> {
        let axis = |tunable: &Ident| self.tiles.axis(tunable);
        Some([axis(&window.extents[0])?, axis(&window.extents[1])?])
    }

    /// The axes of a window a step reads, unless they are not those of what is loaded into it: the load has that error.
    fn sound_axes(&self, window: &Window) -> Option<[&'k Ident; 2]> {
        let own = self.axes(window)?;
        let loaded = self.writer(&window.name).and_then(|(_, placed)| match &placed.step.kind {
            StepKind::Load { from, .. } => self.operand(&from.operand),
            _ => None,
        });
        loaded.is_none_or(|operand| own == [&operand.axes[0], &operand.axes[1]]).then_some(own)
    }

    /// The first step that fills a window.
    fn writer(&self, window: &Ident) -> Option<(usize, &Placed<'k>)> {
        self.steps.iter().enumerate().find(|(_, p)| p.step.kind.writes().is_some_and(|w| w == window))
    }

    /// The step a window's elements come from, behind any conversions.
    fn first_writer(&self, window: &'k Ident) -> Option<&Placed<'k>> {
        let mut name = window;
        // A conversion chain longer than the list of windows is a cycle.
        for _ in 0..=self.kernel.windows.len() {
            let (_, writer) = self.writer(name)?;
            match &writer.step.kind {
                StepKind::Convert { from, .. } => name = from,
                _ => return Some(writer),
            }
        }
        None
    }
}
