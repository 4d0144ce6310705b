//! The HMX product of two windows.

use super::Body;
use crate::{Defect, ir::WindowId};

impl Body<'_> {
    pub(super) fn multiply(&mut self, to: WindowId, data: WindowId, weights: WindowId, swap: bool) {
        let (activation, weight) = if swap { (weights, data) } else { (data, weights) };
        let [rows, run] = self.window_axes(activation);
        let [cols, _] = self.window_axes(weight);
        self.tile_local(run);
        self.tile_local(cols);
        let (run_tile, cols_tile) = (self.tile(run), self.tile(cols));
        let dropped = if self.verified.defect() == Some(Defect::DroppedTile) { " - 1" } else { "" };
        self.code.line(format!("const uint32_t run = tiles_of(at->{}_len){dropped};", self.axis(run)));
        self.code.line(format!("const uint32_t run_stride = tiles_of({run_tile}) * TILE_BYTES;"));
        self.code.line(format!("const uint32_t out_stride = tiles_of({cols_tile}) * TILE_BYTES;"));
        self.window_local("activation", activation, true);
        self.window_local("weight", weight, true);
        self.window_local("out", to, false);
        let rows_loop = format!("for (uint32_t row = 0; row < tiles_of(at->{}_len); ++row)", self.axis(rows));
        let cols_loop = format!("for (uint32_t col = 0; col < tiles_of(at->{}_len); ++col)", self.axis(cols));
        // Token strips are the longer list: walking them outside keeps one strip and the whole smaller window close.
        let [outer, inner] = if cols == self.facts().token { [cols_loop, rows_loop] } else { [rows_loop, cols_loop] };
        self.code.open(outer);
        self.code.open(inner);
        self.code.line("pf_hmx_clear(dev);");
        self.code.open("for (uint32_t tile = 0; tile < run; tile += PACKET_TILES)");
        self.code.line("const uint32_t last_byte = at_most(PACKET_TILES, run - tile) * TILE_BYTES - 1;");
        self.code.line("struct pf_packet packet = {0};");
        self.code.line(
            "packet.activation = (struct pf_load){activation + row * run_stride + tile * TILE_BYTES, last_byte};",
        );
        self.code.line("packet.weight = (struct pf_load){weight + col * run_stride + tile * TILE_BYTES, last_byte};");
        self.code.line("pf_hmx_issue(dev, packet);");
        self.code.close();
        self.code.line("pf_hmx_convert(dev, PF_CONVERT_NO_RELU);");
        self.code.line("pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);");
        self.code.close();
        self.code.close();
    }
}
