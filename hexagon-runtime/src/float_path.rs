//! The CPU float path: both directions in f32 on the effective weights, dequantised block-wise from the resident copy.

use std::cell::RefCell;
use std::ops::Range;

use rayon::prelude::*;

use crate::Direction;
use crate::gemm_call::{Columns, Strided, multiply};
use crate::weight::Weight;

/// Output columns of one task. Blocks do not depend on the thread count, so neither do the bits. The input is packed anew for
/// every block, so that wide ones cost less where there are enough of them.
const BLOCK: usize = 256;
const WIDE_BLOCK: usize = 512;

fn block(columns: usize) -> usize {
    if columns >= 2 * WIDE_BLOCK { WIDE_BLOCK } else { BLOCK }
}

/// Terms of a sum that are added at once: a block of f32 weights of this length stays in the second-level cache between its
/// widening and its multiplication.
const CHUNK: usize = 512;
/// Values between two rows of a block: a cache line.
const PADDING: usize = 16;

thread_local! {
    /// Borrowed for a task, which waits for no other: a thread never asks for it twice.
    static WIDENED: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// The CPU float path on so many threads.
pub(crate) struct FloatPath {
    threads: usize,
}

/// Rows of the caller: `rows` rows of a fixed width, `stride` values apart.
#[derive(Clone, Copy)]
pub(crate) struct InputRows<'a> {
    pub values: &'a [f32],
    pub rows: usize,
    pub stride: usize,
}

/// Where results go, `stride` values apart.
pub(crate) struct OutputRows<'a> {
    pub values: &'a mut [f32],
    pub stride: usize,
}

impl FloatPath {
    pub fn new(threads: usize) -> FloatPath {
        FloatPath { threads }
    }

    /// Computes the product of `input` with a weight of `out` × `in_` and overwrites `output`.
    pub fn run(
        &self,
        weight: &Weight,
        (out, in_): (usize, usize),
        direction: Direction,
        input: InputRows<'_>,
        output: OutputRows<'_>,
    ) {
        if input.rows == 0 {
            return;
        }
        let (from, to) = direction.widths(out, in_);
        let blocks = Columns::new(output.values, input.rows, to, output.stride).blocks(block(to));
        let run = |(columns, mut block): (Range<usize>, Columns<'_, f32>)| {
            WIDENED.with_borrow_mut(|widened| {
                for first in (0..from).step_by(CHUNK) {
                    let terms = first..from.min(first + CHUNK);
                    let left = Strided::rows(&input.values[first..], input.rows, terms.len(), input.stride);
                    let (rows, cols) = match direction {
                        Direction::Forward => (columns.clone(), terms),
                        Direction::InputGrad => (terms, columns.clone()),
                    };
                    let right = weight_block(weight, rows, cols, widened);
                    let right = if direction == Direction::Forward { right.transposed() } else { right };
                    multiply(&mut block, first > 0, left, right, 1);
                }
            });
        };
        if self.threads > 1 {
            blocks.into_par_iter().for_each(run);
        } else {
            blocks.into_iter().for_each(run);
        }
    }
}

/// Effective weights of output features `rows` and input features `columns`, widened or copied to rows that do not fall into
/// the same cache sets, as those of a matrix as wide as a power of two do when they are packed side by side.
fn weight_block<'a>(
    weight: &Weight,
    rows: Range<usize>,
    columns: Range<usize>,
    widened: &'a mut Vec<f32>,
) -> Strided<'a, f32> {
    let (count, width) = (rows.len(), columns.len());
    let stride = width + PADDING;
    if widened.len() < count * stride {
        widened.resize(count * stride, 0.0);
    }
    let block = &mut widened[..count * stride];
    weight.dequantise(rows, columns, block, stride);
    Strided::rows(block, count, width, stride)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Precision, WeightData};

    fn noise(len: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..len).map(|_| next()).collect()
    }

    /// Several chunks, tails in every extent, strides wider than the rows.
    #[test]
    fn matches_a_plain_sum_in_both_directions_and_every_precision() {
        let (out, in_, rows) = (1101, 1100, 5);
        let values = noise(out * in_, 1);
        for precision in [Precision::F32, Precision::F16, Precision::Q8] {
            let weight = Weight::resident("w", out, in_, WeightData::F32(&values), precision).unwrap().weight;
            let mut effective = vec![0.0; out * in_];
            weight.dequantise(0..out, 0..in_, &mut effective, in_);
            for direction in Direction::ALL {
                let (from, to) = direction.widths(out, in_);
                let input = noise(rows * (from + 3), 2);
                let mut output = vec![f32::NAN; rows * (to + 5)];
                FloatPath::new(2).run(
                    &weight,
                    (out, in_),
                    direction,
                    InputRows { values: &input, rows, stride: from + 3 },
                    OutputRows { values: &mut output, stride: to + 5 },
                );
                for r in 0..rows {
                    for c in 0..to {
                        let sum: f64 = (0..from)
                            .map(|i| {
                                let w = match direction {
                                    Direction::Forward => effective[c * in_ + i],
                                    Direction::InputGrad => effective[i * in_ + c],
                                };
                                f64::from(input[r * (from + 3) + i]) * f64::from(w)
                            })
                            .sum();
                        let got = f64::from(output[r * (to + 5) + c]);
                        assert!((got - sum).abs() < 1e-4, "{precision} {direction} ({r}, {c}): {got} for {sum}");
                    }
                    assert!(output[r * (to + 5) + to..].iter().take(5).all(|x| x.is_nan()));
                }
            }
        }
    }

    #[test]
    fn bits_do_not_depend_on_the_thread_count() {
        let (out, in_, rows) = (320, 576, 70);
        let values = noise(out * in_, 3);
        let weight = Weight::resident("w", out, in_, WeightData::F32(&values), Precision::Q8).unwrap().weight;
        let input = noise(rows * in_, 4);
        let run = |threads| {
            let mut output = vec![0.0; rows * out];
            FloatPath::new(threads).run(
                &weight,
                (out, in_),
                Direction::Forward,
                InputRows { values: &input, rows, stride: in_ },
                OutputRows { values: &mut output, stride: out },
            );
            output
        };
        assert_eq!(run(1), run(2));
        assert_eq!(run(2), run(3));
    }

    /// A batch and its rows one by one: the GEMM library takes other kernels for one row, and other orders of the sum.
    /// Two f32 sums of n products differ by at most 2·n·2^-24·Σ|a·w|.
    #[test]
    fn batching_changes_little() {
        let (out, in_, rows) = (320, 576, 40);
        let values = noise(out * in_, 5);
        let weight = Weight::resident("w", out, in_, WeightData::F32(&values), Precision::F16).unwrap().weight;
        for direction in Direction::ALL {
            let (from, to) = direction.widths(out, in_);
            let input = noise(rows * from, 6);
            let path = FloatPath::new(2);
            let run = |input: &[f32], rows: usize| {
                let mut output = vec![0.0; rows * to];
                let to_rows = OutputRows { values: &mut output, stride: to };
                path.run(&weight, (out, in_), direction, InputRows { values: input, rows, stride: from }, to_rows);
                output
            };
            let batch = run(&input, rows);
            for row in 0..rows {
                let x = &input[row * from..(row + 1) * from];
                let alone = run(x, 1);
                for (column, (a, b)) in alone.iter().zip(&batch[row * to..(row + 1) * to]).enumerate() {
                    let magnitude = |(i, x): (usize, &f32)| match direction {
                        Direction::Forward => (x * values[column * in_ + i]).abs(),
                        Direction::InputGrad => (x * values[i * in_ + column]).abs(),
                    };
                    let magnitudes: f32 = x.iter().enumerate().map(magnitude).sum();
                    let bound = from as f32 * f32::EPSILON * magnitudes;
                    assert!((a - b).abs() <= bound, "{direction} row {row} column {column}: {a} and {b}");
                }
            }
        }
    }
}
