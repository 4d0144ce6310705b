//! The f64 sum of effective weights and FP16-rounded scaled rows, and how far from it a kernel may be.

use half::f16;

use crate::Direction;
use crate::gemm_call::{Columns, Strided, multiply};
use crate::projection::Projection;
use crate::weight::TILE;

/// Weights widened to f64 at once (2 MiB).
const CHUNK_VALUES: usize = 256 << 10;
/// Half a unit in the last place of f32 at 1, and the bound of one rounding in a sum.
const F32_ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

pub(super) struct Reference {
    /// rows × output width.
    pub values: Vec<f64>,
    /// Kernel tolerance of each value: over partial sums, 2^-e·(ulp16(partial) + K·2^-24·Σ|a·w|), and one f32 denormal
    /// per partial sum for the store of a result that f32 can hold only as such.
    pub bounds: Vec<f64>,
    /// Largest magnitude of a partial sum of each row, scaled as the row was.
    pub largest_partials: Vec<f64>,
}

/// Operand rows and their magnitudes in f64.
struct Wide {
    values: Vec<f64>,
    magnitudes: Vec<f64>,
}

impl Wide {
    fn fill(&mut self, from: impl Iterator<Item = f64>) {
        self.values.clear();
        self.values.extend(from);
        self.magnitudes.clear();
        self.magnitudes.extend(self.values.iter().map(|x| x.abs()));
    }
}

impl Reference {
    pub fn compute(
        projection: &Projection,
        direction: Direction,
        rows: &[f32],
        exponents: &[i32],
        partial_length: usize,
        threads: usize,
    ) -> Reference {
        let (from, to) = direction.widths(projection.out, projection.in_);
        let count = exponents.len();
        let mut scaled = Wide { values: Vec::new(), magnitudes: Vec::new() };
        scaled.fill(rows.iter().enumerate().map(|(at, x)| {
            // Powers of two: the product is exact, and rounds to FP16 once.
            let e = exponents[at / from];
            f16::from_f64(f64::from(*x) * 2f64.powi(e)).to_f64()
        }));
        let mut sums = Sums { reference: Reference::zero(count, to), to, exponents, threads };
        let mut dense = Vec::new();
        let mut weights = Wide { values: Vec::new(), magnitudes: Vec::new() };
        let chunk = (CHUNK_VALUES / projection.in_ / TILE * TILE).max(TILE);
        let mut partial = Partial::new(count * to);
        for first in (0..projection.out).step_by(chunk) {
            let last = (first + chunk).min(projection.out);
            dense.resize((last - first) * projection.in_, 0.0f32);
            projection.weight.dequantise(first..last, 0..projection.in_, &mut dense, projection.in_);
            weights.fill(dense.iter().map(|w| f64::from(*w)));
            match direction {
                Direction::Forward => sums.forward(&scaled, from, &weights, first..last, partial_length, &mut partial),
                Direction::InputGrad => {
                    sums.input_grad(&scaled, from, &weights, first..last, partial_length, &mut partial);
                }
            }
        }
        let mut reference = sums.reference;
        for (row, exponent) in exponents.iter().enumerate() {
            for at in row * to..(row + 1) * to {
                reference.values[at] *= 2f64.powi(-exponent);
            }
        }
        reference
    }

    fn zero(rows: usize, to: usize) -> Reference {
        Reference { values: vec![0.0; rows * to], bounds: vec![0.0; rows * to], largest_partials: vec![0.0; rows] }
    }
}

/// One partial sum of every output and the sum of its magnitudes.
struct Partial {
    sum: Vec<f64>,
    magnitude: Vec<f64>,
    /// Contraction length summed so far.
    length: usize,
}

impl Partial {
    fn new(len: usize) -> Partial {
        Partial { sum: vec![0.0; len], magnitude: vec![0.0; len], length: 0 }
    }
}

struct Sums<'a> {
    reference: Reference,
    to: usize,
    exponents: &'a [i32],
    threads: usize,
}

impl Sums<'_> {
    /// Output columns `columns`; every partial sum over the input is complete within the chunk.
    fn forward(
        &mut self,
        rows: &Wide,
        from: usize,
        weights: &Wide,
        columns: std::ops::Range<usize>,
        partial_length: usize,
        partial: &mut Partial,
    ) {
        let count = self.exponents.len();
        let width = columns.len();
        for start in (0..from).step_by(partial_length.min(from)) {
            let length = partial_length.min(from - start);
            let a = |values| Strided::rows(values, count, length, from);
            let w = |values| Strided::rows(values, width, length, from).transposed();
            multiply(
                &mut Columns::new(&mut partial.sum, count, width, width),
                false,
                a(&rows.values[start..]),
                w(&weights.values[start..]),
                self.threads,
            );
            multiply(
                &mut Columns::new(&mut partial.magnitude, count, width, width),
                false,
                a(&rows.magnitudes[start..]),
                w(&weights.magnitudes[start..]),
                self.threads,
            );
            partial.length = length;
            self.take(partial, columns.clone());
        }
    }

    /// Contraction over output features `features`: a partial sum may span chunks, a chunk may end several.
    fn input_grad(
        &mut self,
        rows: &Wide,
        from: usize,
        weights: &Wide,
        features: std::ops::Range<usize>,
        partial_length: usize,
        partial: &mut Partial,
    ) {
        let count = self.exponents.len();
        let mut start = features.start;
        while start < features.end {
            let partial_end = (start / partial_length + 1).saturating_mul(partial_length).min(from);
            let end = partial_end.min(features.end);
            let a = |values| Strided::rows(values, count, end - start, from);
            let w = |values| Strided::rows(values, end - start, self.to, self.to);
            let inside = (start - features.start) * self.to;
            let later = partial.length > 0;
            multiply(
                &mut Columns::new(&mut partial.sum, count, self.to, self.to),
                later,
                a(&rows.values[start..]),
                w(&weights.values[inside..]),
                self.threads,
            );
            multiply(
                &mut Columns::new(&mut partial.magnitude, count, self.to, self.to),
                later,
                a(&rows.magnitudes[start..]),
                w(&weights.magnitudes[inside..]),
                self.threads,
            );
            partial.length += end - start;
            if end == partial_end {
                self.take(partial, 0..self.to);
                partial.length = 0;
            }
            start = end;
        }
    }

    /// Adds a complete partial sum of output columns `columns`.
    fn take(&mut self, partial: &Partial, columns: std::ops::Range<usize>) {
        let width = columns.len();
        for (row, exponent) in self.exponents.iter().enumerate() {
            let unscale = 2f64.powi(-exponent);
            for column in 0..width {
                let (sum, magnitude) = (partial.sum[row * width + column], partial.magnitude[row * width + column]);
                let largest = &mut self.reference.largest_partials[row];
                *largest = largest.max(sum.abs());
                let at = row * self.to + columns.start + column;
                self.reference.values[at] += sum;
                self.reference.bounds[at] += unscale * (ulp16(sum) + partial.length as f64 * F32_ROUNDING * magnitude)
                    + f64::from(f32::from_bits(1));
            }
        }
    }
}

/// Spacing of FP16 values at `x`; 2^-24 in the denormal range.
fn ulp16(x: f64) -> f64 {
    if x == 0.0 {
        return 2f64.powi(-24);
    }
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    2f64.powi(exponent.max(-14) - 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::Weight;
    use crate::{Precision, WeightData};

    #[test]
    fn ulp_of_fp16() {
        assert_eq!(ulp16(1.0), 2f64.powi(-10));
        assert_eq!(ulp16(-2047.0), 1.0);
        assert_eq!(ulp16(2048.0), 2.0);
        assert_eq!(ulp16(2f64.powi(-14)), 2f64.powi(-24));
        assert_eq!(ulp16(1e-9), 2f64.powi(-24));
    }

    /// Against the definition, with partial sums that end inside, at and beyond chunks.
    #[test]
    fn values_and_bounds_follow_the_definition() {
        let (out, in_) = (300, 1000);
        let weights: Vec<f32> = (0..out * in_).map(|i| ((i * 31 % 257) as f32 - 128.0) * 0.01).collect();
        let resident = Weight::resident("w", out, in_, WeightData::F32(&weights), Precision::F16).unwrap();
        let mut dense = vec![0.0; out * in_];
        resident.weight.dequantise(0..out, 0..in_, &mut dense, in_);
        let projection = Projection::alone("w", (out, in_), resident.weight);
        for direction in Direction::ALL {
            let (from, to) = direction.widths(out, in_);
            let rows: Vec<f32> = (0..2 * from).map(|i| ((i * 17 % 101) as f32 - 50.0) * 0.3).collect();
            let exponents = [8, 5];
            for partial in [96, 192, 4096] {
                let got = Reference::compute(&projection, direction, &rows, &exponents, partial, 1);
                for row in 0..2 {
                    let scale = 2f64.powi(exponents[row]);
                    for column in (0..to).step_by(37) {
                        let (mut value, mut bound) = (0.0, 0.0);
                        for start in (0..from).step_by(partial) {
                            let end = from.min(start + partial);
                            let (mut sum, mut magnitude) = (0.0, 0.0);
                            for i in start..end {
                                let w = match direction {
                                    Direction::Forward => dense[column * in_ + i],
                                    Direction::InputGrad => dense[i * in_ + column],
                                };
                                let a = f16::from_f64(f64::from(rows[row * from + i]) * scale).to_f64();
                                sum += a * f64::from(w);
                                magnitude += (a * f64::from(w)).abs();
                            }
                            value += sum / scale;
                            bound += (ulp16(sum) + (end - start) as f64 * 2f64.powi(-24) * magnitude) / scale;
                        }
                        let at = row * to + column;
                        assert!((got.values[at] - value).abs() <= 1e-9 * bound.max(1.0));
                        assert!((got.bounds[at] - bound).abs() <= 1e-6 * bound);
                    }
                }
            }
        }
    }
}
