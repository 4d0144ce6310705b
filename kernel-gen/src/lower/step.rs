//! One C function per step.

use super::{Code, step_function, window_of};
use crate::{
    Defect, Verified,
    ir::{
        AxisId, Element, Kernel, OperandId, OperandLayout, Step, StepKind, WindowId, WindowLayout,
    },
    verify::{Facts, Placed},
};

pub(super) fn emit_all(code: &mut Code, verified: &Verified) {
    let placed = Placed::all(&verified.kernel().schedule);
    let steps: Vec<&Step> = placed.iter().map(|p| p.step).collect();
    for index in 0..steps.len() {
        code.blank();
        let function = step_function(verified.kernel(), &steps, index);
        Body {
            code,
            verified,
            placed: &placed[index],
            step: steps[index],
            function,
        }
        .emit();
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
        let result = if matches!(self.step.kind, StepKind::Load { .. }) {
            "uint32_t"
        } else {
            "void"
        };
        let mut head = format!(
            "static {result} {}(pf_device *dev, const struct pf_plan *plan,",
            self.function
        );
        if takes_request {
            head.push_str(" const struct pf_request *request,");
        }
        head.push_str(&format!(" const struct {}_block *at", kernel.name));
        if staged.is_some() {
            head.push_str(", uint32_t stage");
        }
        head.push(')');
        self.code.open(head);
        self.code.line(format!(
            "PF_STEP(dev, {}, {}, \"{}\");",
            c_string(&kernel.name),
            c_string(&self.step.source.to_string()),
            self.label()
        ));
        match self.step.kind.clone() {
            StepKind::Load {
                window,
                operand,
                block,
            } => self.load(window, operand, block),
            StepKind::PackRows {
                window,
                operand,
                block,
                scale,
            } => self.pack("pf_pack_rows", window, operand, block, scale),
            StepKind::PackCols {
                window,
                operand,
                block,
                scale,
            } => self.pack("pf_pack_cols", window, operand, block, scale),
            StepKind::InterleavePairs { to, from } => {
                self.rows_to_tiles("pf_interleave_pairs", to, from)
            }
            StepKind::ScatterWords { to, from } => {
                self.rows_to_tiles("pf_scatter_words", to, from);
                self.code.line("pf_scatter_release(dev);");
            }
            StepKind::Dequantise { to, from } => self.dequantise(to, from),
            StepKind::Multiply {
                to,
                data,
                weights,
                swap,
            } => self.multiply(to, data, weights, swap),
            StepKind::UnpackRows {
                operand,
                block,
                window,
                accumulate,
                unscale,
                ..
            } => {
                self.unpack(
                    "pf_unpack_rows",
                    operand,
                    block,
                    window,
                    accumulate,
                    unscale,
                );
            }
            StepKind::UnpackCols {
                operand,
                block,
                window,
                accumulate,
                unscale,
                ..
            } => {
                self.unpack(
                    "pf_unpack_cols",
                    operand,
                    block,
                    window,
                    accumulate,
                    unscale,
                );
            }
        }
        self.code.close();
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
        self.kernel().tunables[self.facts().tile_of[axis.0].0]
            .name
            .clone()
    }

    fn window_axes(&self, window: WindowId) -> [AxisId; 2] {
        // The verifier has shown that both extents tile an axis.
        self.facts()
            .window_axes(self.kernel(), window)
            .unwrap_or([AxisId(0); 2])
    }

    fn tile_local(&mut self, axis: AxisId) {
        let index = self.facts().tile_of[axis.0].0;
        let name = self.tile(axis);
        self.code
            .line(format!("const uint32_t {name} = plan->tunables[{index}];"));
    }

    fn window_local(&mut self, local: &str, window: WindowId, constant: bool) {
        let staged = window_of(self.kernel(), window).stages > 1;
        let stage = if staged { "stage" } else { "0" };
        let qualifier = if constant { "const uint8_t" } else { "uint8_t" };
        self.code.line(format!(
            "{qualifier} *{local} = pf_window(dev, plan, {}, {stage});",
            window.0
        ));
    }

    /// Distances in a tile grid, seen from rows of `rows`: from one 32-row strip to the next, from one tile of it to the next.
    fn strides(&self, window: WindowId, rows: AxisId) -> [String; 2] {
        let axes = self.window_axes(window);
        let tile = if window_of(self.kernel(), window).layout == WindowLayout::Q8Tiles {
            "Q8_TILE_STRIDE"
        } else {
            "TILE_BYTES"
        };
        let grid_row = format!("tiles_of({}) * {tile}", self.tile(axes[1]));
        if axes[0] == rows {
            [grid_row, tile.to_string()]
        } else {
            [tile.to_string(), grid_row]
        }
    }

    fn defective_stride(&self, window: WindowId) -> &'static str {
        if self.verified.defect() == Some(Defect::WideStride(window)) {
            " + VECTOR_BYTES"
        } else {
            ""
        }
    }

    fn operand_local(&mut self, operand: OperandId) -> String {
        let name = self.kernel().operands[operand.0].name.clone();
        self.code.line(format!(
            "const struct pf_operand *{name} = &request->operands[{}];",
            operand.0
        ));
        name
    }

    fn load(&mut self, window: WindowId, operand: OperandId, block: [AxisId; 2]) {
        let [rows, cols] = block.map(|a| self.axis(a));
        let cols_tile = self.tile(block[1]);
        self.tile_local(block[1]);
        let source = self.operand_local(operand);
        self.window_local("to", window, false);
        match self.kernel().operands[operand.0].layout {
            OperandLayout::RowMajor => {
                let size = element_bytes(self.kernel().operands[operand.0].element);
                self.code.line(format!(
                    "const uint32_t row_bytes = {};",
                    row_bytes(&cols_tile)
                ));
                self.code.line(format!(
                    "const uint8_t *from = in_ddr({source}, (uint64_t)at->{rows} * {source}->row_stride + (uint64_t)at->{cols} * {size});"
                ));
                self.code.line(format!(
                    "return pf_dma_rows(dev, to, row_bytes, from, {source}->row_stride, tiles_of(at->{cols}_len) * TILE_EDGE * {size}, tiles_of(at->{rows}_len) * TILE_EDGE);"
                ));
            }
            OperandLayout::Q8Tiles => {
                self.code.line(format!(
                    "const uint32_t strip_stride = tiles_of({cols_tile}) * Q8_TILE_STRIDE;"
                ));
                self.code.line("uint32_t ticket = 0;");
                self.code.open(format!(
                    "for (uint32_t strip = 0; strip < tiles_of(at->{rows}_len); ++strip)"
                ));
                self.code.line(format!(
                    "const uint8_t *from = in_ddr({source}, (uint64_t)(at->{rows} / TILE_EDGE + strip) * {source}->row_stride + (uint64_t)(at->{cols} / TILE_EDGE) * Q8_TILE_BYTES);"
                ));
                self.code.line(format!(
                    "ticket = pf_dma_rows(dev, to + strip * strip_stride, Q8_TILE_STRIDE, from, Q8_TILE_BYTES, Q8_TILE_BYTES, tiles_of(at->{cols}_len));"
                ));
                self.code.close();
                self.code.line("return ticket;");
            }
        }
    }

    fn pack(
        &mut self,
        primitive: &str,
        window: WindowId,
        operand: OperandId,
        block: [AxisId; 2],
        scale: bool,
    ) {
        let [rows, cols] = block.map(|a| self.axis(a));
        let axes = self.window_axes(window);
        self.tile_local(axes[1]);
        let source = self.operand_local(operand);
        if scale {
            self.code.line(
                "const int32_t *exponents = (const int32_t *)(uintptr_t)request->row_exponents;",
            );
        }
        let [strip, tile] = self.strides(window, block[0]);
        self.code
            .line(format!("const uint32_t strip_stride = {strip};"));
        self.code
            .line(format!("const uint32_t tile_stride = {tile};"));
        self.window_local("to", window, false);
        self.code.open(format!(
            "for (uint32_t row = 0; row < at->{rows}_len; row += TILE_EDGE)"
        ));
        self.code.line(format!(
            "const float *from = (const float *)in_ddr({source}, (uint64_t)(at->{rows} + row) * {source}->row_stride + (uint64_t)at->{cols} * 4);"
        ));
        let exponents = if scale {
            format!("exponents + at->{rows} + row")
        } else {
            "NULL".to_string()
        };
        self.code.line(format!(
            "{primitive}(dev, to + row / TILE_EDGE * strip_stride, tile_stride, from, {source}->row_stride, at_most(TILE_EDGE, at->{rows}_len - row), at->{cols}_len, {exponents});"
        ));
        self.code.close();
    }

    fn rows_to_tiles(&mut self, primitive: &str, to: WindowId, from: WindowId) {
        let [rows, cols] = self.window_axes(from);
        let to_axes = self.window_axes(to);
        self.tile_local(cols);
        if to_axes[1] != cols {
            self.tile_local(to_axes[1]);
        }
        let [strip, tile] = self.strides(to, rows);
        let cols_tile = self.tile(cols);
        let defect = self.defective_stride(from);
        self.code.line(format!(
            "const uint32_t row_bytes = {}{defect};",
            row_bytes(&cols_tile)
        ));
        self.code
            .line(format!("const uint32_t strip_stride = {strip};"));
        self.code
            .line(format!("const uint32_t tile_stride = {tile};"));
        self.window_local("from", from, true);
        self.window_local("to", to, false);
        let (rows, cols) = (self.axis(rows), self.axis(cols));
        self.code.open(format!(
            "for (uint32_t strip = 0; strip < tiles_of(at->{rows}_len); ++strip)"
        ));
        self.code.line(format!(
            "{primitive}(dev, to + strip * strip_stride, tile_stride, from + strip * TILE_EDGE * row_bytes, row_bytes, tiles_of(at->{cols}_len));"
        ));
        self.code.close();
    }

    fn dequantise(&mut self, to: WindowId, from: WindowId) {
        let [rows, cols] = self.window_axes(from);
        let to_axes = self.window_axes(to);
        self.tile_local(cols);
        if to_axes[1] != cols {
            self.tile_local(to_axes[1]);
        }
        let [strip, tile] = self.strides(to, rows);
        let [from_strip, from_tile] = self.strides(from, rows);
        let defect = self.defective_stride(from);
        self.code
            .line(format!("const uint32_t from_strip_stride = {from_strip};"));
        self.code
            .line(format!("const uint32_t strip_stride = {strip};"));
        self.code
            .line(format!("const uint32_t tile_stride = {tile};"));
        self.window_local("from", from, true);
        self.window_local("to", to, false);
        let (rows, cols) = (self.axis(rows), self.axis(cols));
        self.code.open(format!(
            "for (uint32_t strip = 0; strip < tiles_of(at->{rows}_len); ++strip)"
        ));
        self.code.line(format!(
            "pf_dequantise_q8(dev, to + strip * strip_stride, tile_stride, from + strip * from_strip_stride, {from_tile}{defect}, tiles_of(at->{cols}_len));"
        ));
        self.code.close();
    }

    fn multiply(&mut self, to: WindowId, data: WindowId, weights: WindowId, swap: bool) {
        let (activation, weight) = if swap {
            (weights, data)
        } else {
            (data, weights)
        };
        let [rows, run] = self.window_axes(activation);
        let [cols, _] = self.window_axes(weight);
        self.tile_local(run);
        self.tile_local(cols);
        let (run_tile, cols_tile) = (self.tile(run), self.tile(cols));
        let dropped = if self.verified.defect() == Some(Defect::DroppedTile) {
            " - 1"
        } else {
            ""
        };
        self.code.line(format!(
            "const uint32_t run = tiles_of(at->{}_len){dropped};",
            self.axis(run)
        ));
        self.code.line(format!(
            "const uint32_t run_stride = tiles_of({run_tile}) * TILE_BYTES;"
        ));
        self.code.line(format!(
            "const uint32_t out_stride = tiles_of({cols_tile}) * TILE_BYTES;"
        ));
        self.window_local("activation", activation, true);
        self.window_local("weight", weight, true);
        self.window_local("out", to, false);
        let rows_loop = format!(
            "for (uint32_t row = 0; row < tiles_of(at->{}_len); ++row)",
            self.axis(rows)
        );
        let cols_loop = format!(
            "for (uint32_t col = 0; col < tiles_of(at->{}_len); ++col)",
            self.axis(cols)
        );
        // Token strips are the longer list: walking them outside keeps one strip and the whole smaller window close.
        let [outer, inner] = if cols == self.facts().token {
            [cols_loop, rows_loop]
        } else {
            [rows_loop, cols_loop]
        };
        self.code.open(outer);
        self.code.open(inner);
        self.code.line("pf_hmx_clear(dev);");
        self.code
            .open("for (uint32_t tile = 0; tile < run; tile += PACKET_TILES)");
        self.code.line(
            "pf_hmx_multiply(dev, activation + row * run_stride + tile * TILE_BYTES, weight + col * run_stride + tile * TILE_BYTES, at_most(PACKET_TILES, run - tile));",
        );
        self.code.close();
        self.code
            .line("pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);");
        self.code.close();
        self.code.close();
    }

    fn unpack(
        &mut self,
        primitive: &str,
        operand: OperandId,
        block: [AxisId; 2],
        window: WindowId,
        accumulate: bool,
        unscale: bool,
    ) {
        let [rows, cols] = block.map(|a| self.axis(a));
        let axes = self.window_axes(window);
        self.tile_local(axes[1]);
        let target = self.operand_local(operand);
        if unscale {
            self.code.line(
                "const int32_t *exponents = (const int32_t *)(uintptr_t)request->row_exponents;",
            );
        }
        self.code
            .line("uint8_t *flags = (uint8_t *)(uintptr_t)request->row_flags;");
        let [strip, tile] = self.strides(window, block[0]);
        self.code
            .line(format!("const uint32_t strip_stride = {strip};"));
        self.code
            .line(format!("const uint32_t tile_stride = {tile};"));
        let adds = if accumulate && self.verified.defect() != Some(Defect::StoredPartial) {
            let contraction = self.axis(self.facts().contraction);
            self.code
                .line("/* The first block of the contraction stores, the others add. */");
            format!("at->{contraction} > 0")
        } else {
            "0".to_string()
        };
        self.code.line(format!("const int accumulate = {adds};"));
        self.window_local("from", window, true);
        self.code.open(format!(
            "for (uint32_t row = 0; row < at->{rows}_len; row += TILE_EDGE)"
        ));
        self.code.line(format!(
            "float *to = (float *)in_ddr({target}, (uint64_t)(at->{rows} + row) * {target}->row_stride + (uint64_t)at->{cols} * 4);"
        ));
        let exponents = if unscale {
            format!("exponents + at->{rows} + row")
        } else {
            "NULL".to_string()
        };
        self.code.line(format!(
            "{primitive}(dev, from + row / TILE_EDGE * strip_stride, tile_stride, to, {target}->row_stride, at_most(TILE_EDGE, at->{rows}_len - row), at->{cols}_len, {exponents}, flags + at->{rows} + row, accumulate);"
        ));
        self.code.close();
    }

    /// `step window` or the like, for traps.
    fn label(&self) -> String {
        format!(
            "{} {}",
            self.step.kind.keyword(),
            super::target(self.kernel(), self.step)
        )
    }

    /// The step as it was written, and where.
    fn title(&self) -> String {
        let kernel = self.kernel();
        let window = |w: WindowId| window_of(kernel, w).name.as_str();
        let operand = |o: OperandId, b: [AxisId; 2]| {
            let [rows, cols] = b.map(|a| self.placed.loop_over(a).map_or("", |l| l.name.as_str()));
            format!("{}[{rows}, {cols}]", kernel.operands[o.0].name)
        };
        let scaled = |on: bool| if on { " scale(row)" } else { "" };
        let text = match self.step.kind {
            StepKind::Load {
                window: w,
                operand: o,
                block,
            } => format!("load {} <- {}", window(w), operand(o, block)),
            StepKind::PackRows {
                window: w,
                operand: o,
                block,
                scale,
            }
            | StepKind::PackCols {
                window: w,
                operand: o,
                block,
                scale,
            } => {
                format!(
                    "{} {} <- {}{}",
                    self.step.kind.keyword(),
                    window(w),
                    operand(o, block),
                    scaled(scale)
                )
            }
            StepKind::InterleavePairs { to, from }
            | StepKind::ScatterWords { to, from }
            | StepKind::Dequantise { to, from } => {
                format!(
                    "{} {} <- {}",
                    self.step.kind.keyword(),
                    window(to),
                    window(from)
                )
            }
            StepKind::Multiply {
                to,
                data,
                weights,
                swap,
            } => {
                if swap {
                    format!(
                        "multiply {} <- swap({}, {})",
                        window(to),
                        window(data),
                        window(weights)
                    )
                } else {
                    format!(
                        "multiply {} <- {} * {}",
                        window(to),
                        window(data),
                        window(weights)
                    )
                }
            }
            StepKind::UnpackRows {
                operand: o,
                block,
                window: w,
                accumulate,
                unscale,
                guard,
            }
            | StepKind::UnpackCols {
                operand: o,
                block,
                window: w,
                accumulate,
                unscale,
                guard,
            } => format!(
                "{} {} {} {}{}{}",
                self.step.kind.keyword(),
                operand(o, block),
                if accumulate { "+=" } else { "=" },
                window(w),
                if unscale { " unscale(row)" } else { "" },
                guard.map(|g| format!(" guard({g})")).unwrap_or_default()
            ),
        };
        format!("{}: {text}", self.step.source)
    }
}

const fn element_bytes(element: Element) -> u32 {
    match element {
        Element::F32 => 4,
        Element::F16 => 2,
        Element::Q8_0 => 1,
    }
}

/// Bytes of a row of a row-major FP16 window: a multiple of a vector.
fn row_bytes(cols_tile: &str) -> String {
    format!("({cols_tile} * 2 + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES")
}

fn c_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "/").replace('"', "'"))
}
