//! The f64 reference of one product with a frozen weight, and how far a kernel may be from it.

use half::f16;
use hexagon_runtime::Direction;

use crate::row_exponent::row_exponent;

/// One product: `rows` token rows times an `[out][in]` weight, in the direction given.
pub struct Product<'a> {
    /// Forward Y = X·Wᵀ or input gradient dX = dY·W.
    pub direction: Direction,
    /// Output features of the weight.
    pub out: usize,
    /// Input features of the weight.
    pub in_: usize,
    /// Effective weights, row-major `[out][in]`.
    pub weights: &'a [f64],
    /// Input rows, dense: `in` wide forward, `out` wide backward.
    pub input: &'a [f32],
    /// Contraction elements per partial sum: partial sums leave HMX as FP16 and are added in f32.
    pub contraction_tile: usize,
}

/// What one output element may be.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The f64 sum of the effective weights and the FP16-rounded scaled row.
    pub value: f64,
    /// Largest allowed distance: Σ over partial sums of 2^-e·(ulp16(partial) + K·2^-24·Σ|a·w|).
    pub bound: f64,
}

/// A row's reference at one exponent.
pub struct ExpectedRow {
    /// One entry per output column.
    pub columns: Vec<Expected>,
    /// Largest |partial sum| before unscaling: at 60 000 the row is sent again.
    pub largest_partial: f64,
}

/// Magnitude at which a partial sum counts as overflowed.
pub const OVERFLOW: f64 = 60_000.0;

impl Product<'_> {
    /// Width of an input row.
    pub fn contraction(&self) -> usize {
        match self.direction {
            Direction::Forward => self.in_,
            Direction::InputGrad => self.out,
        }
    }

    /// Width of an output row.
    pub fn width(&self) -> usize {
        match self.direction {
            Direction::Forward => self.out,
            Direction::InputGrad => self.in_,
        }
    }

    fn weight(&self, contraction: usize, column: usize) -> f64 {
        match self.direction {
            Direction::Forward => self.weights[column * self.in_ + contraction],
            Direction::InputGrad => self.weights[contraction * self.in_ + column],
        }
    }

    /// Row `row` scaled by 2^`exponent`.
    pub fn row(&self, row: usize, exponent: i32) -> ExpectedRow {
        let length = self.contraction();
        let input = &self.input[row * length..(row + 1) * length];
        // Scaling by 2^e is done in f32: exact unless it leaves the normal range, and FP16 rounds away what f32 keeps.
        let scaled: Vec<f64> = input.iter().map(|&x| f16::from_f64(x as f64 * 2f64.powi(exponent)).to_f64()).collect();
        let unscale = 2f64.powi(-exponent);
        let mut largest_partial = 0f64;
        let columns = (0..self.width())
            .map(|column| {
                let mut expected = Expected { value: 0.0, bound: 0.0 };
                let mut start = 0;
                while start < length {
                    let end = (start + self.contraction_tile).min(length);
                    let (mut sum, mut magnitude) = (0f64, 0f64);
                    for (c, a) in scaled.iter().enumerate().take(end).skip(start) {
                        let term = a * self.weight(c, column);
                        sum += term;
                        magnitude += term.abs();
                    }
                    largest_partial = largest_partial.max(sum.abs());
                    expected.value += unscale * sum;
                    expected.bound += unscale * (ulp16(sum) + (end - start) as f64 * 2f64.powi(-24) * magnitude);
                    start = end;
                }
                expected
            })
            .collect();
        ExpectedRow { columns, largest_partial }
    }

    /// Checks one answered row against every exponent the retry rule may have ended at; the error says what is off.
    pub fn check(&self, row: usize, answer: &[f32]) -> Result<(), String> {
        let length = self.contraction();
        let first = row_exponent(&self.input[row * length..(row + 1) * length]);
        let mut complaint = String::new();
        for retry in 0..=3 {
            let exponent = first - 8 * retry;
            let expected = self.row(row, exponent);
            // Near the threshold the rounding of the partial sum decides, so both sides of it are legal there.
            let surely_retried = expected.largest_partial >= OVERFLOW * 1.002;
            let surely_kept = expected.largest_partial < OVERFLOW * 0.998;
            if !surely_retried {
                match first_outside(&expected.columns, answer) {
                    None => return Ok(()),
                    Some(text) => complaint = format!("row {row}, exponent {exponent}: {text}"),
                }
                if surely_kept {
                    return Err(complaint);
                }
            }
        }
        Err(if complaint.is_empty() { format!("row {row}: overflows at every exponent") } else { complaint })
    }
}

fn first_outside(expected: &[Expected], answer: &[f32]) -> Option<String> {
    expected.iter().zip(answer).enumerate().find_map(|(column, (e, &a))| {
        // f32 rounds the unscaled sum: half a unit of the smallest denormal is the floor of what it can say.
        let bound = e.bound + 2f64.powi(-149);
        let off = (a as f64 - e.value).abs();
        // Written so that NaN is outside.
        if off <= bound {
            None
        } else {
            Some(format!("column {column}: got {a:e}, expected {:e} ± {bound:e}", e.value))
        }
    })
}

/// Distance between neighbouring FP16 values at magnitude |x|.
pub fn ulp16(x: f64) -> f64 {
    let exponent = if x == 0.0 { -14 } else { (x.abs().log2().floor() as i32).clamp(-14, 15) };
    2f64.powi(exponent - 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulp_of_fp16() {
        assert_eq!(ulp16(1.0), 2f64.powi(-10));
        assert_eq!(ulp16(0.0), 2f64.powi(-24));
        assert_eq!(ulp16(40_000.0), 32.0);
    }

    #[test]
    fn check_refuses_a_wrong_column() {
        let weights = [1.0, 2.0, 3.0, 4.0];
        let input = [1.0f32, 10.0];
        let product = Product {
            direction: Direction::Forward,
            out: 2,
            in_: 2,
            weights: &weights,
            input: &input,
            contraction_tile: 32,
        };
        assert!(product.check(0, &[21.0, 43.0]).is_ok());
        assert!(product.check(0, &[21.0, 42.9]).is_err());
        assert!(product.check(0, &[21.0, f32::NAN]).is_err());
        let backward = Product { direction: Direction::InputGrad, ..product };
        assert!(backward.check(0, &[31.0, 42.0]).is_ok());
        assert!(backward.check(0, &[21.0, 43.0]).is_err());
    }
}
