//! A matrix as a grid of packed tiles.

use std::ops::Range;

use super::DdrImage;
use crate::ir::{TILE, TileFormat};

/// Tiles of one format that cover a matrix, those of one row of the grid contiguous.
pub(super) struct TileGrid {
    rows: usize,
    cols: usize,
    tile_bytes: usize,
}

impl TileGrid {
    pub fn of(rows: usize, cols: usize, format: TileFormat) -> TileGrid {
        let edge = TILE as usize;
        TileGrid { rows: rows.div_ceil(edge), cols: cols.div_ceil(edge), tile_bytes: format.bytes as usize }
    }

    pub fn bytes(&self) -> usize {
        self.rows * self.row_stride()
    }

    fn row_stride(&self) -> usize {
        self.cols * self.tile_bytes
    }

    /// The bytes of one tile.
    pub fn tile(&self, row: usize, col: usize) -> Range<usize> {
        let start = row * self.row_stride() + col * self.tile_bytes;
        start..start + self.tile_bytes
    }

    pub fn image(&self, bytes: Vec<u8>, effective: Vec<f64>) -> DdrImage {
        let edge = TILE as usize;
        DdrImage {
            bytes,
            rows: (self.rows * edge) as u32,
            cols: (self.cols * edge) as u32,
            row_stride: self.row_stride() as u32,
            effective,
        }
    }
}
