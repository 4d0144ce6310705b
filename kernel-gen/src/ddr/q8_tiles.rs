//! Q8_0 in 32×32 tiles.

use super::{DdrImage, DdrLayout, q8_block::Q8Block, tile_grid::TileGrid};
use crate::ir::{Element, Operand, OperandLayout, TILE, TileFormat};

/// A grid of 1088-byte tiles, zero-padded to whole tiles. Weight (n, k) of a tile is the int8 at
/// `(k>>1)*64 + 2*n + (k&1)`; the FP16 scale of row n is at `1024 + 2*n`.
///
/// Quantised by ggml's rule ([`super::Q8Blocks`] has the same blocks in ggml's own order).
pub struct Q8Tiles;

impl DdrLayout for Q8Tiles {
    fn holds(&self, operand: &Operand) -> bool {
        operand.layout == OperandLayout::Tiles(TileFormat::Q8_0) && operand.element == Element::Packed
    }

    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage {
        let edge = TILE as usize;
        let grid = TileGrid::of(rows, cols, TileFormat::Q8_0);
        let mut bytes = vec![0; grid.bytes()];
        let mut effective = Vec::with_capacity(values.len());
        for (row, values) in values.chunks(cols).enumerate() {
            for (tile, values) in values.chunks(edge).enumerate() {
                let (quants, scales) = bytes[grid.tile(row / edge, tile)].split_at_mut(edge * edge);
                let n = row % edge;
                let block = Q8Block::of(values);
                scales[2 * n..2 * n + 2].copy_from_slice(&block.d.to_le_bytes());
                for (k, q) in block.quants.into_iter().enumerate() {
                    quants[(k >> 1) * 64 + 2 * n + (k & 1)] = q.cast_unsigned();
                }
                effective.extend(block.effective().take(values.len()));
            }
        }
        grid.image(bytes, effective)
    }
}
