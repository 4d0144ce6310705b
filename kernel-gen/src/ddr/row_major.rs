//! Rows one after the other, each starting on a 128-byte boundary.

use half::{bf16, f16};

use super::{DdrImage, DdrLayout};
use crate::ir::{Element, Operand, OperandLayout, TILE, VECTOR_BYTES};

/// f32 rows. The bytes between the end of a row and the next are NaN: a kernel that takes them for values shows it.
pub struct RowMajorF32;

/// FP16 rows, zero-padded to 32 rows and 64 columns; values are rounded to nearest even.
pub struct RowMajorF16;

/// BF16 rows, values rounded to nearest even. The bytes between the end of a row and the next are NaN.
pub struct RowMajorBf16;

impl DdrLayout for RowMajorF32 {
    fn holds(&self, operand: &Operand) -> bool {
        operand.layout == OperandLayout::RowMajor && operand.element == Element::F32
    }

    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage {
        let stride = (cols * 4).next_multiple_of(VECTOR_BYTES as usize);
        let mut bytes = Vec::with_capacity(rows * stride);
        for row in values.chunks(cols) {
            bytes.extend(row.iter().flat_map(|x| x.to_le_bytes()));
            bytes.resize(bytes.len().next_multiple_of(stride), 0xff);
        }
        DdrImage {
            bytes,
            rows: rows as u32,
            cols: cols as u32,
            row_stride: stride as u32,
            effective: values.iter().map(|&x| f64::from(x)).collect(),
        }
    }
}

impl DdrLayout for RowMajorF16 {
    fn holds(&self, operand: &Operand) -> bool {
        operand.layout == OperandLayout::RowMajor && operand.element == Element::F16
    }

    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage {
        let stride = (cols * 2).next_multiple_of(VECTOR_BYTES as usize);
        let padded = rows.next_multiple_of(TILE as usize);
        let mut bytes = Vec::with_capacity(padded * stride);
        let mut effective = Vec::with_capacity(values.len());
        for row in values.chunks(cols) {
            for &x in row {
                let rounded = f16::from_f32(x);
                bytes.extend(rounded.to_le_bytes());
                effective.push(rounded.to_f64());
            }
            bytes.resize(bytes.len().next_multiple_of(stride), 0);
        }
        bytes.resize(padded * stride, 0);
        DdrImage { bytes, rows: padded as u32, cols: (stride / 2) as u32, row_stride: stride as u32, effective }
    }
}

impl DdrLayout for RowMajorBf16 {
    fn holds(&self, operand: &Operand) -> bool {
        operand.layout == OperandLayout::RowMajor && operand.element == Element::Bf16
    }

    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage {
        let stride = (cols * 2).next_multiple_of(VECTOR_BYTES as usize);
        let mut bytes = Vec::with_capacity(rows * stride);
        let rounded: Vec<bf16> = values.iter().map(|&x| bf16::from_f32(x)).collect();
        for row in rounded.chunks(cols) {
            bytes.extend(row.iter().flat_map(|x| x.to_le_bytes()));
            bytes.resize(bytes.len().next_multiple_of(stride), 0xff);
        }
        DdrImage {
            bytes,
            rows: rows as u32,
            cols: cols as u32,
            row_stride: stride as u32,
            effective: rounded.iter().map(|x| x.to_f64()).collect(),
        }
    }
}
