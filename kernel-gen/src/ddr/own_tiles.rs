//! Packed tiles of a kernel's author.

use half::f16;

use super::{DdrImage, DdrLayout, tile_grid::TileGrid};
use crate::fnv1a_64;
use crate::ir::{Element, HvxStep, InputTile, Operand, OperandLayout, Pairs, StepInput, TILE, TileFormat};

/// Tiles of an author's format, filled with bytes drawn from the values they are asked for. What they stand for is what the
/// reference of the author's step makes of them.
///
/// Nobody knows how to pack a number into the format, but any bytes are a tile. Bits are cleared until every element is finite
/// and below 256: such elements are as good as any, and one NaN would flag every row.
pub struct OwnTiles {
    format: TileFormat,
    pairs: Pairs,
    step: HvxStep,
}

/// Magnitude that elements stay below.
const LARGEST: f64 = 256.0;
/// Bits kept, one attempt after the other. The first two leave the sign and drop the highest exponent bit of numbers that end
/// in this byte.
const MASKS: [u8; 6] = [0xFF, 0xBF, 0xBB, 0x33, 0x11, 0x00];

impl OwnTiles {
    /// The format `step` reads; `None` for a step on FP16 tiles and for formats the language comes with.
    pub fn of(step: &HvxStep) -> Option<OwnTiles> {
        match step.input {
            StepInput::Packed(format, pairs) if format.dequantise.is_none() => {
                Some(OwnTiles { format, pairs, step: step.clone() })
            }
            _ => None,
        }
    }

    /// Fills one tile; returns its elements by row and column.
    fn fill(&self, tile: &mut [u8], seed: u64) -> Vec<f64> {
        let edge = TILE as usize;
        let mut elements = vec![0.0; edge * edge];
        for mask in MASKS {
            let mut state = seed;
            for byte in tile.iter_mut() {
                // Knuth's MMIX generator; its high bits are the good ones.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *byte = (state >> 56) as u8 & mask;
            }
            for (at, element) in elements.iter_mut().enumerate() {
                let (row, col) = (at / edge, at % edge);
                let (p, q) = if self.pairs == Pairs::Rows { (row, col) } else { (col, row) };
                let value = self.step.reference.element(&InputTile::new(tile), p, q);
                *element = f16::from_f64(value).to_f64();
            }
            if elements.iter().all(|x| x.abs() < LARGEST) {
                break;
            }
        }
        elements
    }
}

impl DdrLayout for OwnTiles {
    fn holds(&self, operand: &Operand) -> bool {
        operand.layout == OperandLayout::Tiles(self.format) && operand.element == Element::Packed
    }

    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage {
        let edge = TILE as usize;
        let grid = TileGrid::of(rows, cols, self.format);
        let mut bytes = vec![0; grid.bytes()];
        let mut effective = vec![0.0; rows * cols];
        let seed = fnv1a_64(&values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
        let tiles = (0..rows.div_ceil(edge)).flat_map(|r| (0..cols.div_ceil(edge)).map(move |c| (r, c)));
        for (at, (strip, tile)) in tiles.enumerate() {
            let elements = self.fill(&mut bytes[grid.tile(strip, tile)], seed.wrapping_add(at as u64));
            for (n, row) in elements.chunks(edge).enumerate().take(rows - strip * edge) {
                let width = edge.min(cols - tile * edge);
                let to = (strip * edge + n) * cols + tile * edge;
                effective[to..to + width].copy_from_slice(&row[..width]);
            }
        }
        grid.image(bytes, effective)
    }
}
