//! Input and output rows of one request, laid out the way the kernels want them, reused between requests.

use rayon::prelude::*;

use crate::buffer::{AlignedBytes, VECTOR_BYTES};
use crate::float_path::{InputRows, OutputRows};
use crate::row_scale::row_exponent;

/// f32 values in one HVX vector: rows start on vector boundaries.
const VECTOR_VALUES: usize = VECTOR_BYTES / size_of::<f32>();

/// Least rows of a task, so that small requests are not cut up; chosen, not measured.
const ROWS_OF_A_TASK: usize = 32;

/// Rows in, rows out, and what the row scale rule keeps per row.
#[derive(Default)]
pub(crate) struct RequestBuffer {
    input: AlignedBytes,
    output: AlignedBytes,
    pub exponents: Vec<i32>,
    pub flags: Vec<u8>,
    pub rows: usize,
    pub input_width: usize,
    pub output_width: usize,
}

/// Position of the first value that is not finite.
#[derive(Debug, PartialEq)]
pub(crate) struct NotFinite {
    pub row: usize,
    pub column: usize,
}

impl RequestBuffer {
    fn reshape(&mut self, rows: usize, input_width: usize, output_width: usize) {
        self.rows = rows;
        self.input_width = input_width;
        self.output_width = output_width;
        self.input.reserve(rows * self.input_stride() * size_of::<f32>());
        self.output.reserve(rows * self.output_stride() * size_of::<f32>());
        self.exponents.clear();
        self.flags.clear();
        self.flags.resize(rows, 0);
    }

    /// Copies dense rows in and finds every row's exponent.
    pub fn fill(
        &mut self,
        input: &[f32],
        rows: usize,
        input_width: usize,
        output_width: usize,
    ) -> Result<(), NotFinite> {
        self.reshape(rows, input_width, output_width);
        let stride = self.input_stride();
        let padded = self.input.as_mut_slice::<f32>().par_chunks_exact_mut(stride);
        let copy = |(to, from): (&mut [f32], &[f32])| {
            to[..input_width].copy_from_slice(from);
            row_exponent(from)
        };
        let exponents: Vec<_> =
            padded.zip(input.par_chunks_exact(input_width)).with_min_len(ROWS_OF_A_TASK).map(copy).collect();
        for (row, exponent) in exponents.into_iter().enumerate() {
            self.exponents.push(exponent.map_err(|column| NotFinite { row, column })?);
        }
        Ok(())
    }

    /// Takes (row, exponent) pairs of another buffer as a request of their own.
    pub fn gather(&mut self, from: &RequestBuffer, rows: &[(usize, i32)]) {
        self.reshape(rows.len(), from.input_width, from.output_width);
        let stride = self.input_stride();
        for (to, (row, exponent)) in rows.iter().enumerate() {
            self.exponents.push(*exponent);
            self.input.as_mut_slice::<f32>()[to * stride..(to + 1) * stride]
                .copy_from_slice(&from.input.as_slice::<f32>()[row * stride..(row + 1) * stride]);
        }
    }

    /// Copies output row `row` to row `to_row` of `to`.
    pub fn copy_output_row(&self, row: usize, to: &mut RequestBuffer, to_row: usize) {
        let stride = self.output_stride();
        to.output.as_mut_slice::<f32>()[to_row * stride..(to_row + 1) * stride]
            .copy_from_slice(&self.output.as_slice::<f32>()[row * stride..(row + 1) * stride]);
    }

    /// Copies the dense output rows out.
    pub fn read(&self, out: &mut [f32]) {
        let rows = self.output.as_slice::<f32>().par_chunks_exact(self.output_stride());
        let copy = |(to, from): (&mut [f32], &[f32])| to.copy_from_slice(&from[..self.output_width]);
        out.par_chunks_exact_mut(self.output_width).zip(rows).with_min_len(ROWS_OF_A_TASK).for_each(copy);
    }

    /// Values from one input row to the next.
    pub fn input_stride(&self) -> usize {
        self.input_width.next_multiple_of(VECTOR_VALUES)
    }

    /// Values from one output row to the next.
    pub fn output_stride(&self) -> usize {
        self.output_width.next_multiple_of(VECTOR_VALUES)
    }

    /// Rows the device flagged.
    pub fn flagged(&self) -> impl Iterator<Item = usize> {
        self.flags.iter().enumerate().filter(|(_, flag)| **flag != 0).map(|(row, _)| row)
    }

    /// Input, output, exponents and flags of rows `first..first + rows`.
    pub fn device_rows(&mut self, first: usize, rows: usize) -> (&[f32], &mut [f32], &[i32], &mut [u8]) {
        let (input_stride, output_stride) = (self.input_stride(), self.output_stride());
        let last = first + rows;
        (
            &self.input.as_slice::<f32>()[first * input_stride..last * input_stride],
            &mut self.output.as_mut_slice::<f32>()[first * output_stride..last * output_stride],
            &self.exponents[first..last],
            &mut self.flags[first..last],
        )
    }

    /// Both sides as the float path wants them, rows `first..first + rows`.
    pub fn float_rows(&mut self, first: usize, rows: usize) -> (InputRows<'_>, OutputRows<'_>) {
        let (input_stride, output_stride) = (self.input_stride(), self.output_stride());
        let input = &self.input.as_slice::<f32>()[first * input_stride..];
        let values = &mut self.output.as_mut_slice::<f32>()[first * output_stride..];
        (InputRows { values: input, rows, stride: input_stride }, OutputRows { values, stride: output_stride })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pads_rows_to_vectors_and_gives_them_back_dense() {
        let mut buffer = RequestBuffer::default();
        let input: Vec<f32> = (0..66).map(|x| x as f32).collect();
        buffer.fill(&input, 2, 33, 3).unwrap();
        assert_eq!((buffer.input_stride(), buffer.output_stride()), (64, 32));
        assert_eq!(buffer.exponents, [7, 6]);
        let (rows, out) = buffer.float_rows(1, 1);
        assert_eq!(rows.values[..33], input[33..]);
        out.values[..3].copy_from_slice(&[1.0, 2.0, 3.0]);
        let mut dense = [9.0; 6];
        buffer.read(&mut dense);
        assert_eq!(dense, [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn names_the_place_of_a_nan() {
        let mut input = [1.0; 12];
        input[7] = f32::NAN;
        assert_eq!(RequestBuffer::default().fill(&input, 3, 4, 4), Err(NotFinite { row: 1, column: 3 }));
    }
}
