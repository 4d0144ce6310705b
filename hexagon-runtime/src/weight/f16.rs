use std::ops::Range;

use half::f16;
use half::slice::HalfFloatSliceExt;
use rayon::prelude::*;

use super::{TILE, TooLarge};
use crate::buffer::AlignedBytes;
use crate::device::WeightOperand;

/// Row length granularity: 64 halfwords are one HVX vector.
const ROW_GRANULE: usize = 64;

/// Row-major FP16, `out` padded to 32 rows and `in` to 64 columns with zeros.
pub(crate) struct F16Rows {
    padded_out: usize,
    padded_in: usize,
    halves: AlignedBytes,
}

impl F16Rows {
    /// Rounds to nearest even.
    ///
    /// # Errors
    /// The first value that rounds beyond the largest FP16.
    pub fn round(values: &[f32], out: usize, in_: usize) -> Result<F16Rows, TooLarge> {
        let padded_out = out.next_multiple_of(TILE);
        let padded_in = in_.next_multiple_of(ROW_GRANULE);
        let mut halves = AlignedBytes::zeroed(padded_out * padded_in * 2);
        halves.as_mut_slice::<f16>().par_chunks_mut(padded_in).zip(values.par_chunks(in_)).enumerate().try_for_each(
            |(row, (to, from))| {
                to[..in_].convert_from_f32_slice(from);
                match to[..in_].iter().position(|x| !x.is_finite()) {
                    None => Ok(()),
                    Some(column) => Err(TooLarge { row, column, value: from[column] }),
                }
            },
        )?;
        Ok(F16Rows { padded_out, padded_in, halves })
    }

    pub fn dequantise(&self, rows: Range<usize>, columns: Range<usize>, to: &mut [f32], stride: usize) {
        let halves = self.halves.as_slice::<f16>();
        for (row, to) in rows.zip(to.chunks_mut(stride)) {
            halves[row * self.padded_in..][columns.clone()].convert_to_f32_slice(&mut to[..columns.len()]);
        }
    }

    /// The weight as the kernels read it.
    pub fn operand(&self) -> WeightOperand<'_> {
        // Extents fit u32: the planner has solved for them.
        WeightOperand {
            bytes: self.bytes(),
            rows: self.padded_out as u32,
            cols: self.padded_in as u32,
            row_stride: (self.padded_in * 2) as u32,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.halves.bytes()[..self.padded_out * self.padded_in * 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_nearest_even_and_pads_with_zeros() {
        let (out, in_) = (3, 5);
        let values: Vec<f32> = (0..15).map(|i| (i as f32 - 7.0) * 0.1).collect();
        let weight = F16Rows::round(&values, out, in_).unwrap();
        let operand = weight.operand();
        assert_eq!((operand.rows, operand.cols, operand.row_stride), (32, 64, 128));
        let halves: &[f16] = bytemuck::cast_slice(weight.bytes());
        for row in 0..32 {
            for column in 0..64 {
                let expected = if row < out && column < in_ { values[row * in_ + column] } else { 0.0 };
                assert_eq!(halves[row * 64 + column], f16::from_f32(expected));
            }
        }
        let mut back = vec![0.0; 15];
        weight.dequantise(0..3, 0..5, &mut back, 5);
        assert!(back.iter().zip(&values).all(|(a, b)| *a == f16::from_f32(*b).to_f32()));
    }

    #[test]
    fn keeps_fp16_denormals() {
        let smallest = 2f32.powi(-24);
        let weight = F16Rows::round(&[smallest, smallest * 0.49], 1, 2).unwrap();
        let mut back = [0.0; 2];
        weight.dequantise(0..1, 0..2, &mut back, 2);
        assert_eq!(back, [smallest, 0.0]);
    }

    #[test]
    fn the_largest_fp16_fits_and_the_next_step_does_not() {
        assert!(F16Rows::round(&[65_519.0], 1, 1).is_ok());
        assert_eq!(F16Rows::round(&[0.0, 65_520.0], 1, 2).err(), Some(TooLarge { row: 0, column: 1, value: 65_520.0 }));
    }
}
