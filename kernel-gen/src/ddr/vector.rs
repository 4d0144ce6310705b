//! One f32 for each column of the output.

use super::{DdrImage, DdrLayout};
use crate::ir::{Element, Operand, OperandLayout};

/// f32 elements one after the other, and nothing behind the last: a kernel that reads on leaves the operand.
pub struct VectorF32;

impl DdrLayout for VectorF32 {
    fn holds(&self, operand: &Operand) -> bool {
        operand.layout == OperandLayout::Vector && operand.element == Element::F32
    }

    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        DdrImage {
            row_stride: bytes.len() as u32,
            bytes,
            rows: rows as u32,
            cols: cols as u32,
            effective: values.iter().map(|&x| f64::from(x)).collect(),
        }
    }
}
