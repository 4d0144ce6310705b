//! The function that runs the loops.

use super::{Code, outside_steps, step::arguments, step_function, window_of};
use crate::{
    Defect, Verified,
    ir::{AxisId, Loop, Statement, Step, StepKind, WindowId},
    verify::Placed,
};

pub(super) fn emit(code: &mut Code, verified: &Verified) {
    let kernel = verified.kernel();
    let placed = Placed::all(&kernel.schedule);
    let steps: Vec<&Step> = placed.iter().map(|p| p.step).collect();
    code.blank();
    code.open(format!(
        "static void {}_run(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request)",
        kernel.name
    ));
    for (index, tunable) in kernel.tunables.iter().enumerate() {
        code.line(format!("const uint32_t {} = plan->tunables[{index}];", tunable.name));
    }
    code.line(format!("struct {}_block at = {{0}};", kernel.name));
    code.line("pf_hmx_begin(dev);");
    code.line(
        "/* Each column's scale is 1.0, the low half of its low word; every other field of the bias record is 0. */",
    );
    code.line("uint8_t *record = pf_bias_record(dev);");
    code.line("pf_vstore(dev, record, pf_vsplat_word(0x3C00));");
    code.line("pf_vstore(dev, record + VECTOR_BYTES, pf_vzero());");
    code.line("pf_hmx_bias(dev, record);");
    let mut writer = Writer { code, verified, steps, pipelined: Vec::new() };
    writer.body(&kernel.schedule);
    code.line(outside_steps(kernel, "end"));
    code.line("pf_hmx_end(dev);");
    code.close();
}

struct Writer<'a> {
    code: &'a mut Code,
    verified: &'a Verified,
    steps: Vec<&'a Step>,
    /// The windows of the pipelined loops around the current statement, with the loop's name.
    pipelined: Vec<(WindowId, &'a str)>,
}

impl<'a> Writer<'a> {
    fn body(&mut self, body: &'a [Statement]) {
        for statement in body {
            match statement {
                Statement::Loop(l) => self.walk(l),
                Statement::Step(step) => self.step(step),
            }
        }
    }

    fn axis(&self, axis: AxisId) -> &'a str {
        &self.verified.kernel().axes[axis.0].name
    }

    /// First index and end of an axis in C.
    fn range(&self, axis: AxisId) -> (String, String) {
        let shorter = if self.verified.defect() == Some(Defect::ShortLoop(axis)) { " - TILE_EDGE" } else { "" };
        if axis == self.verified.facts().token {
            ("request->row_begin".into(), format!("request->row_end{shorter}"))
        } else {
            ("0".into(), format!("request->axes[{}]{shorter}", axis.0))
        }
    }

    fn walk(&mut self, l: &'a Loop) {
        let kernel = self.verified.kernel();
        let axis = self.axis(l.axis);
        let tile = &kernel.tunables[l.tile.0].name;
        let (begin, end) = self.range(l.axis);
        for &window in &l.pipeline {
            let name = &window_of(kernel, window).name;
            let stages = window_of(kernel, window).stages;
            self.code.line(format!(
                "/* Loads of {name} run up to {} ahead of the steps that use them, through {stages} stages. */",
                if stages == 2 { "1 block".to_string() } else { format!("{} blocks", stages.saturating_sub(1)) }
            ));
            self.code.line(format!("struct {}_block {name}_ahead = at;", kernel.name));
            self.code.line(format!("uint32_t {name}_tickets[{stages}] = {{0}};"));
            self.code.line(format!("uint32_t {name}_issued = 0;"));
            self.code.line(format!("{name}_ahead.{axis} = {begin};"));
        }
        let mut advance = format!("at.{axis} += {tile}");
        if !l.pipeline.is_empty() {
            self.code.line(format!("uint32_t {} = 0;", l.name));
            advance.push_str(&format!(", ++{}", l.name));
        }
        self.code.open(format!("for (at.{axis} = {begin}; at.{axis} < {end}; {advance})"));
        self.code.line(format!("at.{axis}_len = at_most({tile}, {end} - at.{axis});"));
        for &window in &l.pipeline {
            self.issue(l, window, &end);
        }
        let depth = self.pipelined.len();
        self.pipelined.extend(l.pipeline.iter().map(|&w| (w, l.name.as_str())));
        self.body(&l.body);
        self.pipelined.truncate(depth);
        self.code.close();
    }

    /// The loads that may be in flight while this block is worked on, and the wait for this block's own.
    fn issue(&mut self, l: &'a Loop, window: WindowId, end: &str) {
        let kernel = self.verified.kernel();
        let Some(load) =
            self.steps.iter().position(|s| matches!(s.kind, StepKind::Load { window: w, .. } if w == window))
        else {
            return;
        };
        let name = &window_of(kernel, window).name;
        let stages = window_of(kernel, window).stages;
        let axis = self.axis(l.axis);
        let tile = &kernel.tunables[l.tile.0].name;
        let function = step_function(kernel, &self.steps, load);
        self.code.open(format!(
            "for (; {name}_issued < {} + {stages} && {name}_ahead.{axis} < {end}; ++{name}_issued, {name}_ahead.{axis} += {tile})",
            l.name
        ));
        self.code.line(format!("{name}_ahead.{axis}_len = at_most({tile}, {end} - {name}_ahead.{axis});"));
        self.code.line(format!(
            "{name}_tickets[{name}_issued % {stages}] = {function}(dev, plan, request, &{name}_ahead, {name}_issued % {stages});"
        ));
        self.code.close();
        self.code.line(format!("pf_dma_wait(dev, {name}_tickets[{} % {stages}]);", l.name));
    }

    fn step(&mut self, step: &'a Step) {
        let kernel = self.verified.kernel();
        let Some(index) = self.steps.iter().position(|s| std::ptr::eq(*s, step)) else {
            return;
        };
        let function = step_function(kernel, &self.steps, index);
        let (takes_request, staged) = arguments(kernel, step);
        let mut call = format!("{function}(dev, plan,");
        if takes_request {
            call.push_str(" request,");
        }
        call.push_str(" &at");
        if let Some((_, block)) = staged.and_then(|w| self.pipelined.iter().find(|(p, _)| *p == w)) {
            let stages = staged.map_or(1, |w| window_of(kernel, w).stages);
            call.push_str(&format!(", {block} % {stages}"));
        }
        call.push(')');
        match step.kind {
            // Issued ahead, at the head of the pipelined loop.
            StepKind::Load { window, .. } if self.pipelined.iter().any(|(w, _)| *w == window) => {}
            StepKind::Load { .. } => self.code.line(format!("pf_dma_wait(dev, {call});")),
            _ => self.code.line(format!("{call};")),
        }
    }
}
