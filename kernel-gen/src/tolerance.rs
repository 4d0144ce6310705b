//! How far an output may be from the reference.
//!
//! A result is the f32 sum of one FP16 partial sum per block of the contraction, so the reference is evaluated once per
//! block, and once more with magnitudes in place of values:
//! |y − ref| ≤ Σ over blocks of ( 2^-e · ulp16(2^e · partial) + length · 2^-24 · Σ|a·w| ).
//!
//! Column factors act behind the sum, in f32: the bound of the sum is multiplied by |s|, and every f32 operation that may
//! round adds 2^-24 of the magnitude of the result. Where everything is a small integer the result is exact.

use half::f16;

use crate::ir::{ColumnFactors, Kernel, OperandId, OperandRole, ReferenceCase, ReferenceError, StepKind};
use crate::verify::Placed;
use crate::{Plan, Verified, cost};

/// Largest integer up to which FP16 holds every integer.
const EXACT_FP16: f64 = 2048.0;
/// Largest integer up to which f32 holds every integer.
const EXACT_F32: f64 = 16_777_216.0;
/// Half a unit of rounding in f32.
const F32_ROUNDING: f64 = 1.0 / 16_777_216.0;
/// The smallest f32 denormal, 2^-149: what f32 can say at all.
const F32_FLOOR: f64 = 1.401_298_464_324_817e-45;

/// What one output element may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// The reference.
    pub value: f64,
    /// Largest allowed distance; 0 where the result must be exact.
    pub bound: f64,
    /// Largest magnitude of a partial sum in FP16, with the row's 2^e; infinite if it is not a number.
    pub partial: f64,
}

impl Expected {
    /// Whether `got` is within the bound. NaN never is.
    pub fn allows(&self, got: f32) -> bool {
        (f64::from(got) - self.value).abs() <= self.bound
    }
}

/// The tolerance of one run of a kernel.
pub struct Tolerance<'a> {
    kernel: &'a Kernel,
    exponents: &'a [i32],
    whole: ReferenceCase<'a>,
    whole_magnitude: ReferenceCase<'a>,
    /// The sum without column factors, as HMX forms it.
    sum_magnitude: ReferenceCase<'a>,
    blocks: Vec<Block<'a>>,
    factors: ColumnFactors,
    integers: bool,
}

/// One block of the contraction, without column factors.
struct Block<'a> {
    length: usize,
    values: ReferenceCase<'a>,
    magnitudes: ReferenceCase<'a>,
}

impl<'a> Tolerance<'a> {
    /// The tolerance of `extents` (one per axis, in declaration order) computed under `plan` from `operands`, which are as
    /// [`as_multiplied`] gives them for `exponents`, one for each token row.
    ///
    /// # Errors
    /// The counts do not match the kernel.
    pub fn new(
        kernel: &'a Verified,
        plan: &Plan,
        extents: &[usize],
        operands: &'a [Vec<f64>],
        exponents: &'a [i32],
    ) -> Result<Tolerance<'a>, ReferenceError> {
        let slices: Vec<&[f64]> = operands.iter().map(Vec::as_slice).collect();
        let whole = ReferenceCase::new(kernel.kernel(), extents, &slices)?;
        let factors = column_factors(kernel.kernel());
        let without = |case: &ReferenceCase<'a>, vector: Option<OperandId>, value: f64| match vector {
            Some(vector) => case.with_constant(vector, value),
            None => case.clone(),
        };
        let sum = without(&without(&whole, factors.scale, 1.0), factors.bias, 0.0);
        let contraction = cost::contraction_axis(kernel);
        let length = extents[contraction.0];
        let tile = cost::tile_of(kernel, contraction).and_then(|tile| plan.tunables.get(tile.0));
        let tile = tile.map_or(length, |tile| tile.value as usize).max(1);
        let block = |start: usize| {
            let values = sum.part(contraction, start..start + tile);
            Block { length: tile.min(length - start), magnitudes: values.magnitudes(), values }
        };
        Ok(Tolerance {
            kernel: kernel.kernel(),
            exponents,
            whole_magnitude: whole.magnitudes(),
            sum_magnitude: sum.magnitudes(),
            blocks: (0..length).step_by(tile).map(block).collect(),
            factors,
            integers: operands.iter().flatten().all(|x| x.fract() == 0.0),
            whole,
        })
    }

    /// Output (i, j).
    pub fn element(&self, i: usize, j: usize) -> Expected {
        let element = |case: &ReferenceCase<'_>| self.kernel.reference.element(case, i, j);
        let (scale, unscale) = (2f64.powi(self.exponents[i]), 2f64.powi(-self.exponents[i]));
        let plain = self.factors == ColumnFactors::default();
        let value = element(&self.whole);
        let (mut largest, mut bound) = (0f64, 0f64);
        for block in &self.blocks {
            let one = plain && self.blocks.len() == 1;
            let partial = if one { value } else { element(&block.values) } * scale;
            // Not a number counts as overflow.
            largest = if partial.is_nan() { f64::INFINITY } else { largest.max(partial.abs()) };
            bound += unscale * ulp16(partial) + block.length as f64 * F32_ROUNDING * element(&block.magnitudes);
        }
        let magnitude = element(&self.whole_magnitude);
        let mut floor = F32_FLOOR;
        if !plain {
            let operations = self.blocks.len() as f64 + 2.0;
            let factor = self.factors.scale.map_or(1.0, |s| self.whole_magnitude.element(s.0, 0, j));
            bound = factor * bound + operations * F32_ROUNDING * magnitude;
            floor *= operations;
        }
        let exact = self.integers && element(&self.sum_magnitude) <= EXACT_FP16 && magnitude <= EXACT_F32;
        Expected { value, bound: if exact { 0.0 } else { bound + floor }, partial: largest }
    }
}

/// Operands as they are multiplied: activations as FP16 holds them, fp16(x·2^e)·2^-e, everything else as `effective` has it.
/// Outputs are empty.
pub fn as_multiplied<'e>(
    kernel: &Kernel,
    extents: &[usize],
    effective: impl IntoIterator<Item = &'e [f64]>,
    exponents: &[i32],
) -> Vec<Vec<f64>> {
    let round = |x: f64, e: i32| f16::from_f64(x * 2f64.powi(e)).to_f64() * 2f64.powi(-e);
    let operands = kernel.operands.iter().zip(effective);
    operands
        .map(|(operand, values)| match operand.role {
            OperandRole::Activation => {
                let rows = values.chunks(operand.shape(extents)[1].max(1)).zip(exponents);
                rows.flat_map(|(row, &e)| row.iter().map(move |&x| round(x, e))).collect()
            }
            OperandRole::Output => Vec::new(),
            OperandRole::Weight | OperandRole::Column => values.to_vec(),
        })
        .collect()
}

/// Distance between neighbouring FP16 values at magnitude |x|.
fn ulp16(x: f64) -> f64 {
    let exponent = if x == 0.0 { -14 } else { (x.abs().log2().floor() as i32).clamp(-14, 15) };
    2f64.powi(exponent - 10)
}

/// What the step that writes the output does to its columns.
fn column_factors(kernel: &Kernel) -> ColumnFactors {
    let unpacks = Placed::all(&kernel.schedule).into_iter().find_map(|placed| match placed.step.kind {
        StepKind::UnpackRows { columns, .. } | StepKind::UnpackCols { columns, .. } => Some(columns),
        _ => None,
    });
    unpacks.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arch, library, verify};

    fn expected(kernel: &Kernel, extents: [usize; 3], operands: &[Vec<f64>], exponent: i32) -> Expected {
        let verified = verify(kernel).unwrap();
        let axes = extents.map(|extent| extent as u32);
        let plan = Plan::with_tunables(&verified, Arch::V79, &axes, 8 << 20, &[32, 32, 32]).unwrap();
        let exponents = vec![exponent; extents[0]];
        Tolerance::new(&verified, &plan, &extents, operands, &exponents).unwrap().element(0, 0)
    }

    #[test]
    fn one_ulp_and_the_sum_of_magnitudes() {
        let operands = [vec![0.5], vec![3.0], Vec::new()];
        let one = expected(&library::forward_f16(), [1, 1, 1], &operands, 4);
        // 1.5 · 2^4 = 24 lies between 16 and 32, where FP16 steps by 2^-6.
        let bound = 2f64.powi(-4) * 2f64.powi(-6) + 2f64.powi(-24) * 1.5 + F32_FLOOR;
        assert_eq!(one, Expected { value: 1.5, bound, partial: 24.0 });
    }

    #[test]
    fn every_block_rounds_by_itself() {
        // 32 · 1.5 and then −1.5: partial sums 48 and −1.5, whose ulps are 2^-5 and 2^-10.
        let mut weights = vec![1.5; 33];
        weights[32] = -1.5;
        let operands = [vec![1.0; 33], weights, Vec::new()];
        let two = expected(&library::forward_f16(), [1, 1, 33], &operands, 0);
        let sums = 2f64.powi(-24) * (32.0 * 48.0 + 1.5);
        assert_eq!(two.value, 46.5);
        assert_eq!(two.bound, 2f64.powi(-5) + 2f64.powi(-10) + sums + F32_FLOOR);
        assert_eq!(two.partial, 48.0);
    }

    #[test]
    fn column_factors_act_behind_the_sum() {
        let kernel = library::forward_f16_column_affine();
        let operands = [vec![0.5], vec![3.0], Vec::new(), vec![-8.0], vec![100.0]];
        let affine = expected(&kernel, [1, 1, 1], &operands, 0);
        assert_eq!((affine.value, affine.partial), (88.0, 1.5));
        let sum = 2f64.powi(-10) + 2f64.powi(-24) * 1.5;
        assert_eq!(affine.bound, 8.0 * sum + 3.0 * 2f64.powi(-24) * 112.0 + 3.0 * F32_FLOOR);
    }

    #[test]
    fn small_integers_are_exact_until_fp16_skips_one() {
        let operands = |w: f64| [vec![1.0], vec![w], Vec::new()];
        assert_eq!(expected(&library::forward_f16(), [1, 1, 1], &operands(2048.0), 0).bound, 0.0);
        assert!(expected(&library::forward_f16(), [1, 1, 1], &operands(2049.0), 0).bound > 0.0);
    }

    #[test]
    fn nothing_allows_a_nan() {
        let wide = Expected { value: 0.0, bound: f64::INFINITY, partial: 0.0 };
        assert!(wide.allows(1e30) && !wide.allows(f32::NAN));
    }
}
