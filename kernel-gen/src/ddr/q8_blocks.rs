//! Q8_0 as ggml lays it out.

use super::{
    DdrImage, DdrLayout,
    q8_block::{LENGTH, Q8Block},
};
use crate::ir::{BlockFormat, Element, Operand, OperandLayout};

/// Rows of 34-byte blocks along the columns, as in a GGUF file: the FP16 scale d, then 32 int8. Rows follow one another without
/// padding. The columns must be a multiple of 32.
///
/// Quantised by ggml's rule: d = max|x| / 127 kept as FP16, q = round(x · 127 / max|x|) with halves away from zero;
/// effective weight fp16(q·d).
pub struct Q8Blocks;

impl DdrLayout for Q8Blocks {
    fn holds(&self, operand: &Operand) -> bool {
        operand.layout == OperandLayout::Blocks(BlockFormat::Q8_0) && operand.element == Element::Packed
    }

    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage {
        let row_stride = cols.div_ceil(LENGTH) * BlockFormat::Q8_0.bytes as usize;
        let mut bytes = Vec::with_capacity(rows * row_stride);
        let mut effective = Vec::with_capacity(values.len());
        for values in values.chunks(cols).flat_map(|row| row.chunks(LENGTH)) {
            let block = Q8Block::of(values);
            bytes.extend(block.d.to_le_bytes());
            bytes.extend(block.quants.map(i8::cast_unsigned));
            effective.extend(block.effective().take(values.len()));
        }
        DdrImage { bytes, rows: rows as u32, cols: cols as u32, row_stride: row_stride as u32, effective }
    }
}
