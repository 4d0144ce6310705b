//! An author's HVX step: its body as a function of one tile, and the loops around it.

use super::{Body, row_bytes};
use crate::{
    ir::{HvxStep, HvxStepId, Kernel, StepInput, VECTOR_BYTES, WindowId},
    lower::Code,
};

/// The C function of an author's step in a kernel.
fn tile_function(kernel: &Kernel, step: &HvxStep) -> String {
    format!("{}_{}_tile", kernel.name, step.name)
}

/// The body of `step` as a function of one tile.
pub(in crate::lower) fn emit_body(code: &mut Code, function: &str, step: &HvxStep) {
    code.line(format!("/* {}: step {}", step.source, step.name));
    for line in &step.doc {
        code.line(format!(" * {}", line.replace("*/", "* /")).trim_end());
    }
    code.line(" */");
    let stride = if matches!(step.input, StepInput::Rows(_)) { ", uint32_t row_stride" } else { "" };
    code.open(format!("static void {function}(pf_device *dev, uint8_t *to, const uint8_t *from{stride})"));
    code.verbatim(&step.body, step.body_source);
    code.close();
}

/// The bodies of every step the kernel's author defined.
pub(in crate::lower) fn emit_bodies(code: &mut Code, kernel: &Kernel) {
    for step in &kernel.steps {
        code.blank();
        emit_body(code, &tile_function(kernel, step), step);
    }
}

impl Body<'_> {
    pub(super) fn apply(&mut self, step: HvxStepId, to: WindowId, from: WindowId) {
        let function = tile_function(self.kernel(), &self.kernel().steps[step.0]);
        let [rows, cols] = self.window_axes(from);
        let to_axes = self.window_axes(to);
        self.tile_local(cols);
        if to_axes[1] != cols {
            self.tile_local(to_axes[1]);
        }
        let [strip, tile] = self.strides(to, rows);
        let defect = self.defective_stride(from);
        let input = self.kernel().steps[step.0].input;
        // What follows a packed tile up to the next vector belongs to it.
        let given = match input {
            StepInput::Rows(_) => "TILE_EDGE, TILE_EDGE * 2, row_bytes".to_string(),
            StepInput::Packed(..) | StepInput::F16 => {
                let bytes = input.tile_bytes().next_multiple_of(VECTOR_BYTES);
                format!("1, {bytes}, {bytes}")
            }
        };
        let row_stride = if let StepInput::Rows(_) = input {
            let cols_tile = self.tile(cols);
            self.code.line(format!("const uint32_t row_bytes = {}{defect};", row_bytes(&cols_tile)));
            self.code.line("const uint32_t from_tile_stride = TILE_EDGE * 2;");
            self.code.line("const uint32_t from_strip_stride = TILE_EDGE * row_bytes;");
            ", row_bytes"
        } else {
            let [from_strip, from_tile] = self.strides(from, rows);
            self.code.line(format!("const uint32_t from_tile_stride = {from_tile}{defect};"));
            self.code.line(format!("const uint32_t from_strip_stride = {from_strip};"));
            ""
        };
        self.code.line(format!("const uint32_t strip_stride = {strip};"));
        self.code.line(format!("const uint32_t tile_stride = {tile};"));
        self.window_local("from", from, true);
        self.window_local("to", to, false);
        let (rows, cols) = (self.axis(rows), self.axis(cols));
        self.code.line("pf_own_begin(dev);");
        self.strips(&rows);
        self.code.line(format!("const uint32_t tiles = tiles_of(at->{cols}_len);"));
        self.code.line("pf_begin_tiles(dev, to + strip * strip_stride, tile_stride, tiles);");
        self.code.open("for (uint32_t tile = 0; tile < tiles; ++tile)");
        self.code.line("uint8_t *to_tile = to + strip * strip_stride + tile * tile_stride;");
        self.code.line("const uint8_t *from_tile = from + strip * from_strip_stride + tile * from_tile_stride;");
        self.code.line(format!("pf_own_tile(dev, to_tile, from_tile, {given});"));
        self.code.line(format!("{function}(dev, to_tile, from_tile{row_stride});"));
        self.code.close();
        self.code.close();
        self.code.line("pf_own_end(dev);");
    }
}
