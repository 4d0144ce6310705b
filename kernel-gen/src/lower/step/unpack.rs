//! HVX steps that write output rows.

use super::Body;
use crate::{
    Defect,
    ir::{AxisId, ColumnFactors, OperandId, WindowId},
};

impl Body<'_> {
    pub(super) fn unpack(
        &mut self,
        primitive: &str,
        operand: OperandId,
        block: [AxisId; 2],
        window: WindowId,
        unscale: bool,
        columns: ColumnFactors,
    ) {
        let [rows, cols] = block.map(|a| self.axis(a));
        let axes = self.window_axes(window);
        self.tile_local(axes[1]);
        let target = self.operand_local(operand);
        if unscale {
            self.code.line("const int32_t *exponents = (const int32_t *)(uintptr_t)request->row_exponents;");
        }
        self.code.line("uint8_t *flags = (uint8_t *)(uintptr_t)request->row_flags;");
        let [strip, tile] = self.strides(window, block[0]);
        self.code.line(format!("const uint32_t strip_stride = {strip};"));
        self.code.line(format!("const uint32_t tile_stride = {tile};"));
        let adds = if self.verified.defect() != Some(Defect::StoredPartial) {
            let contraction = self.axis(self.facts().contraction);
            self.code.line("/* The first block of the contraction stores, the others add. */");
            format!("at->{contraction} > 0")
        } else {
            "0".to_string()
        };
        self.code.line(format!("const int accumulate = {adds};"));
        let (variant, factors) = if columns == ColumnFactors::default() {
            ("", String::new())
        } else {
            let scale = self.factor("column_scale", columns.scale, &cols);
            let bias = self.factor("column_bias", columns.bias, &cols);
            ("_affine", format!(", {scale}, {bias}"))
        };
        self.window_local("from", window, true);
        self.strip_rows(&rows);
        self.code.line(format!(
            "float *to = (float *)in_ddr({target}, (uint64_t)(at->{rows} + row) * {target}->row_stride + (uint64_t)at->{cols} * 4);"
        ));
        let exponents = if unscale { format!("exponents + at->{rows} + row") } else { "NULL".to_string() };
        self.code.line(format!(
            "{primitive}{variant}(dev, from + row / TILE_EDGE * strip_stride, tile_stride, to, {target}->row_stride, rows, at->{cols}_len, {exponents}, flags + at->{rows} + row, accumulate{factors});"
        ));
        self.code.close();
    }

    /// The block's part of a vector over the columns; NULL if there is none.
    fn factor(&mut self, local: &'static str, vector: Option<OperandId>, cols: &str) -> &'static str {
        let Some(OperandId(index)) = vector else {
            return "NULL";
        };
        self.code.line(format!(
            "const float *{local} = (const float *)in_ddr(&request->operands[{index}], (uint64_t)at->{cols} * 4);"
        ));
        local
    }
}
