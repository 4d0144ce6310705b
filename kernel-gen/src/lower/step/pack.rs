//! HVX steps that make HMX tiles.

use super::{Body, row_bytes};
use crate::ir::{AxisId, Element, OperandId, WindowId};

impl Body<'_> {
    pub(super) fn pack(
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
            self.code.line("const int32_t *exponents = (const int32_t *)(uintptr_t)request->row_exponents;");
        }
        let [strip, tile] = self.strides(window, block[0]);
        self.code.line(format!("const uint32_t strip_stride = {strip};"));
        self.code.line(format!("const uint32_t tile_stride = {tile};"));
        self.window_local("to", window, false);
        self.strip_rows(&rows);
        let element = self.kernel().operands[operand.0].element;
        let size = element.bytes();
        let (c, suffix) = match element {
            Element::F16 => ("uint16_t", "_f16"),
            Element::Bf16 => ("uint16_t", "_bf16"),
            Element::F32 | Element::Packed => ("float", ""),
        };
        self.code.line(format!(
            "const {c} *from = (const {c} *)in_ddr({source}, (uint64_t)(at->{rows} + row) * {source}->row_stride + (uint64_t)at->{cols} * {size});"
        ));
        let exponents = if scale { format!("exponents + at->{rows} + row") } else { "NULL".to_string() };
        self.code.line(format!(
            "{primitive}{suffix}(dev, to + row / TILE_EDGE * strip_stride, tile_stride, from, {source}->row_stride, rows, at->{cols}_len, {exponents});"
        ));
        self.code.close();
    }

    pub(super) fn rows_to_tiles(&mut self, primitive: &str, to: WindowId, from: WindowId) {
        let [rows, cols] = self.window_axes(from);
        let to_axes = self.window_axes(to);
        self.tile_local(cols);
        if to_axes[1] != cols {
            self.tile_local(to_axes[1]);
        }
        let [strip, tile] = self.strides(to, rows);
        let cols_tile = self.tile(cols);
        let defect = self.defective_stride(from);
        self.code.line(format!("const uint32_t row_bytes = {}{defect};", row_bytes(&cols_tile)));
        self.code.line(format!("const uint32_t strip_stride = {strip};"));
        self.code.line(format!("const uint32_t tile_stride = {tile};"));
        self.window_local("from", from, true);
        self.window_local("to", to, false);
        let (rows, cols) = (self.axis(rows), self.axis(cols));
        self.strips(&rows);
        self.code.line(format!(
            "{primitive}(dev, to + strip * strip_stride, tile_stride, from + strip * TILE_EDGE * row_bytes, row_bytes, tiles_of(at->{cols}_len));"
        ));
        self.code.close();
    }

    /// A conversion of packed tiles, strip by strip.
    pub(super) fn tiles_to_tiles(&mut self, primitive: &str, to: WindowId, from: WindowId) {
        let [rows, cols] = self.window_axes(from);
        let to_axes = self.window_axes(to);
        self.tile_local(cols);
        if to_axes[1] != cols {
            self.tile_local(to_axes[1]);
        }
        let [strip, tile] = self.strides(to, rows);
        let [from_strip, from_tile] = self.strides(from, rows);
        let defect = self.defective_stride(from);
        self.code.line(format!("const uint32_t from_tile_stride = {from_tile}{defect};"));
        self.code.line(format!("const uint32_t from_strip_stride = {from_strip};"));
        self.code.line(format!("const uint32_t strip_stride = {strip};"));
        self.code.line(format!("const uint32_t tile_stride = {tile};"));
        self.window_local("from", from, true);
        self.window_local("to", to, false);
        let (rows, cols) = (self.axis(rows), self.axis(cols));
        self.strips(&rows);
        self.code.line(format!(
            "{primitive}(dev, to + strip * strip_stride, tile_stride, from + strip * from_strip_stride, from_tile_stride, tiles_of(at->{cols}_len));"
        ));
        self.code.close();
    }
}
