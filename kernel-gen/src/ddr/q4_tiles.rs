//! Q4_0 in 32×32 tiles.

use half::f16;

use super::{DdrImage, DdrLayout, tile_grid::TileGrid};
use crate::ir::{Element, Operand, OperandLayout, TILE, TileFormat};

/// A grid of 576-byte tiles. Weight (n, k) of a tile is the nibble of byte `(k>>1)*32 + n`, low for even k; the FP16 scale of
/// row n is at `512 + 2*n`. What lies beyond the matrix stands for 0.
///
/// Quantised by ggml's rule: d = x / −8 for the x of largest magnitude, kept as FP16, q = ⌊x · (1/d) + 8.5⌋ up to 15;
/// effective weight fp16((q − 8)·d).
pub struct Q4Tiles;

const ZERO: u8 = 8;

impl DdrLayout for Q4Tiles {
    fn holds(&self, operand: &Operand) -> bool {
        operand.layout == OperandLayout::Tiles(TileFormat::Q4_0) && operand.element == Element::Packed
    }

    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage {
        let edge = TILE as usize;
        let grid = TileGrid::of(rows, cols, TileFormat::Q4_0);
        let mut bytes = vec![0; grid.bytes()];
        let mut effective = Vec::with_capacity(values.len());
        for (row, values) in values.chunks(cols).enumerate() {
            for (tile, block) in values.chunks(edge).enumerate() {
                let (packed, scales) = bytes[grid.tile(row / edge, tile)].split_at_mut(edge * edge / 2);
                let n = row % edge;
                let largest = block.iter().fold(0f32, |m, &x| if x.abs() > m.abs() { x } else { m });
                let d = largest / -8.0;
                let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
                let stored = f16::from_f32(d);
                scales[2 * n..2 * n + 2].copy_from_slice(&stored.to_le_bytes());
                for k in 0..edge {
                    let q = block.get(k).map_or(ZERO, |&x| (x * inverse + 8.5).clamp(0.0, 15.0) as u8);
                    packed[(k >> 1) * edge + n] |= q << (4 * (k & 1));
                    if k < block.len() {
                        let quant = f64::from(q) - f64::from(ZERO);
                        effective.push(f16::from_f64(quant * stored.to_f64()).to_f64());
                    }
                }
            }
        }
        grid.image(bytes, effective)
    }
}
