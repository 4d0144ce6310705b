//! The loop nest with the numbers of a plan.

use std::ops::Range;

use crate::{
    Plan, Verified,
    ir::{Kernel, Loop, Source, Statement, Step, StepKind},
};

/// One line of the schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Loops around it.
    pub depth: usize,
    /// What it is.
    pub text: String,
    /// Where it is written.
    pub source: Source,
    /// Index of the step in program order; `None` for a loop.
    pub step: Option<usize>,
}

/// The schedule of `kernel` with the block counts of `plan`.
pub fn lines(kernel: &Verified, plan: &Plan, rows: Range<u32>) -> Vec<Line> {
    let kernel = kernel.on(plan.arch);
    let mut writer = Writer { kernel, plan, rows, lines: Vec::new(), steps: 0 };
    writer.body(&kernel.kernel().schedule, 0);
    writer.lines
}

struct Writer<'a> {
    kernel: &'a Verified,
    plan: &'a Plan,
    rows: Range<u32>,
    lines: Vec<Line>,
    steps: usize,
}

impl Writer<'_> {
    fn body(&mut self, body: &[Statement], depth: usize) {
        for statement in body {
            match statement {
                Statement::Loop(l) => {
                    let text = self.head(l);
                    self.lines.push(Line { depth, text, source: l.source, step: None });
                    self.body(&l.body, depth + 1);
                }
                Statement::Step(step) => {
                    let text = text(self.kernel, step);
                    self.lines.push(Line { depth, text, source: step.source, step: Some(self.steps) });
                    self.steps += 1;
                }
            }
        }
    }

    fn head(&self, l: &Loop) -> String {
        let kernel = self.kernel.kernel();
        let extent = if l.axis == self.kernel.facts().token {
            self.rows.end.saturating_sub(self.rows.start)
        } else {
            self.plan.axes[l.axis.0].extent
        };
        let tile = self.plan.tunables[l.tile.0].value;
        let blocks = extent.div_ceil(tile);
        let last = extent - tile * blocks.saturating_sub(1);
        let mut text = format!(
            "for {} in tiles({}, {} = {tile}): {blocks} block{} over {extent}",
            l.name,
            kernel.axes[l.axis.0].name,
            kernel.tunables[l.tile.0].name,
            if blocks == 1 { "" } else { "s" },
        );
        if last != tile && blocks > 1 {
            text.push_str(&format!(", the last of {last}"));
        }
        for window in &l.pipeline {
            let window = &kernel.windows[window.0];
            text.push_str(&format!("; loads of {} run {} ahead", window.name, window.stages - 1));
        }
        text
    }
}

/// A step as it is written, with axes for the names of loops.
fn text(kernel: &Verified, step: &Step) -> String {
    let kernel = kernel.kernel();
    let window = |w: crate::ir::WindowId| kernel.windows[w.0].name.clone();
    let operand = step.kind.operand().map(|(operand, block)| {
        let [rows, cols] = block.map(|a| kernel.axes[a.0].name.as_str());
        format!("{}[{rows}, {cols}]", kernel.operands[operand.0].name)
    });
    let reads = match step.kind {
        StepKind::Multiply { data, weights, swap: false, .. } => format!("{} * {}", window(data), window(weights)),
        StepKind::Multiply { data, weights, swap: true, .. } => format!("swap({}, {})", window(data), window(weights)),
        _ => step.kind.reads().into_iter().map(window).collect::<Vec<_>>().join(", "),
    };
    let (to, from) = match (step.kind.writes(), operand) {
        (Some(to), Some(operand)) if reads.is_empty() => (window(to), operand),
        (Some(to), Some(operand)) => (window(to), format!("{reads}, {operand}")),
        (Some(to), None) => (window(to), reads),
        (None, Some(operand)) => (operand, reads),
        (None, None) => (String::new(), reads),
    };
    let arithmetic = arithmetic(kernel, &step.kind);
    let split = step.split.map(|a| format!(" split({})", kernel.axes[a.0].name)).unwrap_or_default();
    let (own, arrow) = match step.kind {
        StepKind::Apply { step, .. } => (format!(" {}", kernel.steps[step.0].name), "<-"),
        // Of the blocks of the contraction the first stores, the others add.
        StepKind::UnpackRows { .. } | StepKind::UnpackCols { .. } => (String::new(), "+="),
        _ => (String::new(), "<-"),
    };
    format!("{}{own} {to} {arrow} {from}{arithmetic}{split}", step.kind.keyword())
}

/// What a step does to the numbers on their way, as it is written.
fn arithmetic(kernel: &Kernel, kind: &StepKind) -> String {
    let mut text = String::new();
    match *kind {
        StepKind::PackRows { scale: true, .. } | StepKind::PackCols { scale: true, .. } => text.push_str(" scale(row)"),
        StepKind::UnpackRows { unscale, columns, guard, .. } | StepKind::UnpackCols { unscale, columns, guard, .. } => {
            if unscale {
                text.push_str(" unscale(row)");
            }
            for (word, operand) in [("column_scale", columns.scale), ("column_bias", columns.bias)] {
                if let Some(operand) = operand {
                    text.push_str(&format!(" {word}({})", kernel.operands[operand.0].name));
                }
            }
            if let Some(limit) = guard {
                text.push_str(&format!(" guard({limit})"));
            }
        }
        _ => {}
    }
    text
}
