//! Q8_0 in 32×32 tiles.

use half::f16;

use super::{DdrImage, DdrLayout};
use crate::ir::{Element, Operand, OperandLayout, TILE, TileFormat};

const Q8_TILE_BYTES: u32 = TileFormat::Q8_0.bytes;

/// A grid of 1088-byte tiles, zero-padded to whole tiles. Weight (n, k) of a tile is the int8 at
/// `(k>>1)*64 + 2*n + (k&1)`; the FP16 scale of row n is at `1024 + 2*n`.
///
/// Quantised by ggml's rule: d = max|x| / 127 kept as FP16, q = round(x · 127 / max|x|) with halves away from zero;
/// effective weight fp16(q·d).
pub struct Q8Tiles;

impl DdrLayout for Q8Tiles {
    fn holds(&self, operand: &Operand) -> bool {
        operand.layout == OperandLayout::Tiles(TileFormat::Q8_0) && operand.element == Element::Packed
    }

    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage {
        let edge = TILE as usize;
        let (grid_rows, grid_cols) = (rows.div_ceil(edge), cols.div_ceil(edge));
        let row_stride = grid_cols * Q8_TILE_BYTES as usize;
        let mut bytes = vec![0; grid_rows * row_stride];
        let mut effective = Vec::with_capacity(values.len());
        for (row, values) in values.chunks(cols).enumerate() {
            for (tile, block) in values.chunks(edge).enumerate() {
                let start = row / edge * row_stride + tile * Q8_TILE_BYTES as usize;
                let (quants, scales) = bytes[start..start + Q8_TILE_BYTES as usize].split_at_mut(edge * edge);
                let n = row % edge;
                let largest = block.iter().fold(0f32, |m, x| m.max(x.abs()));
                let d = largest / 127.0;
                let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
                let stored = f16::from_f32(d);
                scales[2 * n..2 * n + 2].copy_from_slice(&stored.to_le_bytes());
                for (k, &x) in block.iter().enumerate() {
                    let q = (x * inverse).round() as i8;
                    quants[(k >> 1) * 64 + 2 * n + (k & 1)] = q.cast_unsigned();
                    effective.push(f16::from_f64(f64::from(q) * stored.to_f64()).to_f64());
                }
            }
        }
        DdrImage {
            bytes,
            rows: (grid_rows * edge) as u32,
            cols: (grid_cols * edge) as u32,
            row_stride: row_stride as u32,
            effective,
        }
    }
}
