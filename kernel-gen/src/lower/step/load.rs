//! DMA of a block of an operand.

use super::{Body, row_bytes};
use crate::ir::{AxisId, OperandId, OperandLayout, TileFormat, WindowId};

impl Body<'_> {
    pub(super) fn load(&mut self, window: WindowId, operand: OperandId, block: [AxisId; 2]) {
        let [rows, cols] = block.map(|a| self.axis(a));
        let cols_tile = self.tile(block[1]);
        self.tile_local(block[1]);
        let source = self.operand_local(operand);
        self.window_local("to", window, false);
        match self.kernel().operands[operand.0].layout {
            OperandLayout::RowMajor | OperandLayout::Vector => {
                let size = self.kernel().operands[operand.0].element.bytes();
                self.code.line(format!("const uint32_t row_bytes = {};", row_bytes(&cols_tile)));
                self.code.line(format!(
                    "const uint8_t *from = in_ddr({source}, (uint64_t)at->{rows} * {source}->row_stride + (uint64_t)at->{cols} * {size});"
                ));
                self.code.line(format!(
                    "return pf_dma_rows(dev, to, row_bytes, from, {source}->row_stride, tiles_of(at->{cols}_len) * TILE_EDGE * {size}, tiles_of(at->{rows}_len) * TILE_EDGE);"
                ));
            }
            OperandLayout::Tiles(TileFormat { name, bytes, stride, .. }) => {
                self.code.line(format!("const uint32_t tile_bytes = {bytes}; /* {name} in DDR */"));
                self.code.line(format!("const uint32_t tile_stride = {stride}; /* in VTCM: whole vectors */"));
                self.code.line(format!("const uint32_t strip_stride = tiles_of({cols_tile}) * tile_stride;"));
                self.code.line("uint32_t ticket = 0;");
                self.code.open(format!("for (uint32_t strip = 0; strip < tiles_of(at->{rows}_len); ++strip)"));
                self.code.line(format!(
                    "const uint8_t *from = in_ddr({source}, (uint64_t)(at->{rows} / TILE_EDGE + strip) * {source}->row_stride + (uint64_t)(at->{cols} / TILE_EDGE) * tile_bytes);"
                ));
                self.code.line(format!(
                    "ticket = pf_dma_rows(dev, to + strip * strip_stride, tile_stride, from, tile_bytes, tile_bytes, tiles_of(at->{cols}_len));"
                ));
                self.code.close();
                self.code.line("return ticket;");
            }
        }
    }
}
