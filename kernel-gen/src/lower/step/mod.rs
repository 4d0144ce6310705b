//! One C function per step.

mod apply;
mod load;
mod multiply;
mod pack;
mod split;
mod title;
mod unpack;

pub(super) use apply::{emit_bodies, emit_body};

use super::{Code, step_function, window_of};
use crate::{
    Defect, Verified,
    ir::{AxisId, Kernel, OperandId, Step, StepKind, TileFormat, WindowId, WindowLayout},
    verify::{Facts, Placed},
};

pub(super) fn emit_all(code: &mut Code, verified: &Verified) {
    let placed = Placed::all(&verified.kernel().schedule);
    let steps: Vec<&Step> = placed.iter().map(|p| p.step).collect();
    for index in 0..steps.len() {
        code.blank();
        let function = step_function(verified.kernel(), &steps, index);
        Body { code, verified, placed: &placed[index], step: steps[index], function }.emit();
    }
}

/// Whether the step's function takes the request, and whether it takes the stage of a pipelined window.
pub(super) fn arguments(kernel: &Kernel, step: &Step) -> (bool, Option<WindowId>) {
    let staged = |w: WindowId| (window_of(kernel, w).stages > 1).then_some(w);
    let window = match step.kind {
        StepKind::Load { window, .. } => staged(window),
        _ => step.kind.reads().into_iter().find_map(staged),
    };
    (step.kind.operand().is_some(), window)
}

struct Body<'a> {
    code: &'a mut Code,
    verified: &'a Verified,
    placed: &'a Placed<'a>,
    step: &'a Step,
    function: String,
}

impl<'a> Body<'a> {
    fn emit(mut self) {
        let kernel = self.kernel();
        let (takes_request, staged) = arguments(kernel, self.step);
        self.code.line(format!("/* {} */", self.title()));
        let result = if matches!(self.step.kind, StepKind::Load { .. }) { "uint32_t" } else { "void" };
        let mut head = format!("static {result} {}(pf_device *dev, const struct pf_plan *plan,", self.function);
        if takes_request {
            head.push_str(" const struct pf_request *request,");
        }
        head.push_str(&format!(" const struct {}_block *at", kernel.name));
        if staged.is_some() {
            head.push_str(", uint32_t stage");
        }
        head.push(')');
        if self.step.split.is_some() {
            self.share(takes_request, staged.is_some());
        }
        self.code.open(head);
        self.code.line(format!(
            "PF_STEP(dev, {}, {}, \"{}\"{});",
            c_string(&kernel.name),
            c_string(&self.step.source.to_string()),
            self.label(),
            self.indices(staged.is_some())
        ));
        if self.step.split.is_some() {
            self.parallel(takes_request, staged.is_some());
        } else {
            self.work();
        }
        self.code.close();
    }

    /// What the step does, or a worker's share of it.
    fn work(&mut self) {
        let kernel = self.kernel();
        match self.step.kind.clone() {
            StepKind::Load { window, operand, block } => self.load(window, operand, block),
            StepKind::PackRows { window, operand, block, scale } => {
                self.pack("pf_pack_rows", window, operand, block, scale)
            }
            StepKind::PackCols { window, operand, block, scale } => {
                self.pack("pf_pack_cols", window, operand, block, scale)
            }
            StepKind::InterleavePairs { to, from } => self.rows_to_tiles("pf_interleave_pairs", to, from),
            StepKind::ScatterWords { to, from } => {
                self.rows_to_tiles("pf_scatter_words", to, from);
                self.code.line("pf_scatter_release(dev);");
            }
            StepKind::Dequantise { to, from } => {
                // The verifier has shown that the format has a strip call.
                match window_of(kernel, from).layout {
                    WindowLayout::Tiles(TileFormat { dequantise: Some(primitive), .. }) => {
                        self.tiles_to_tiles(primitive, to, from);
                    }
                    WindowLayout::Blocks(format) => self.blocks_to_tiles(format, to, from),
                    _ => {}
                }
            }
            StepKind::Apply { step, to, from } => self.apply(step, to, from),
            StepKind::Multiply { to, data, weights, swap } => self.multiply(to, data, weights, swap),
            StepKind::UnpackRows { operand, block, window, unscale, columns, .. } => {
                self.unpack("pf_unpack_rows", operand, block, window, unscale, columns);
            }
            StepKind::UnpackCols { operand, block, window, unscale, columns, .. } => {
                self.unpack("pf_unpack_cols", operand, block, window, unscale, columns);
            }
        }
    }

    /// The block of every loop around the step, and the stage, for traps.
    fn indices(&self, staged: bool) -> String {
        let mut indices = String::new();
        for l in &self.placed.loops {
            let axis = self.axis(l.axis);
            indices.push_str(&format!(", {{\"{axis}\", at->{axis}}}"));
        }
        if staged {
            indices.push_str(", {\"stage\", stage}");
        }
        indices
    }

    fn kernel(&self) -> &'a Kernel {
        self.verified.kernel()
    }

    fn facts(&self) -> &'a Facts {
        self.verified.facts()
    }

    fn axis(&self, axis: AxisId) -> String {
        self.kernel().axes[axis.0].name.clone()
    }

    /// `name`, the local that holds the tile of an axis; declared by [`Self::tile_locals`].
    fn tile(&self, axis: AxisId) -> String {
        self.kernel().tunables[self.facts().tile_of[axis.0].0].name.clone()
    }

    fn window_axes(&self, window: WindowId) -> [AxisId; 2] {
        // The verifier has shown that both extents tile an axis.
        self.facts().window_axes(self.kernel(), window).unwrap_or([AxisId(0); 2])
    }

    fn tile_local(&mut self, axis: AxisId) {
        let index = self.facts().tile_of[axis.0].0;
        let name = self.tile(axis);
        self.code.line(format!("const uint32_t {name} = plan->tunables[{index}];"));
    }

    fn window_local(&mut self, local: &str, window: WindowId, constant: bool) {
        let staged = window_of(self.kernel(), window).stages > 1;
        let stage = if staged { "stage" } else { "0" };
        let qualifier = if constant { "const uint8_t" } else { "uint8_t" };
        self.code.line(format!("{qualifier} *{local} = pf_window(dev, plan, {}, {stage});", window.0));
    }

    /// Distances in a tile grid, seen from rows of `rows`: from one 32-row strip to the next, from one tile of it to the next.
    fn strides(&self, window: WindowId, rows: AxisId) -> [String; 2] {
        let axes = self.window_axes(window);
        let tile = match window_of(self.kernel(), window).layout {
            WindowLayout::Tiles(format) => format.stride.to_string(),
            _ => "TILE_BYTES".to_string(),
        };
        let grid_row = format!("tiles_of({}) * {tile}", self.tile(axes[1]));
        if axes[0] == rows { [grid_row, tile] } else { [tile, grid_row] }
    }

    fn defective_stride(&self, window: WindowId) -> &'static str {
        if self.verified.defect() == Some(Defect::WideStride(window)) { " + VECTOR_BYTES" } else { "" }
    }

    fn operand_local(&mut self, operand: OperandId) -> String {
        let name = self.kernel().operands[operand.0].name.clone();
        self.code.line(format!("const struct pf_operand *{name} = &request->operands[{}];", operand.0));
        name
    }
}

pub(super) fn c_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "/").replace('"', "'"))
}

/// Bytes of a row of a window of blocks: a multiple of a vector.
fn block_row_bytes(cols_tile: &str) -> String {
    format!("(tiles_of({cols_tile}) * block_bytes + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES")
}

/// Bytes of a row of a row-major FP16 window: a multiple of a vector.
fn row_bytes(cols_tile: &str) -> String {
    format!("({cols_tile} * 2 + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES")
}
