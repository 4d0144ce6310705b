//! What the reference closure allows a kernel to answer.
//!
//! A result is the f32 sum of one FP16 partial sum per block of the contraction, so the closure is evaluated once per block,
//! over operands cut to the block, and once more with magnitudes in place of values:
//! |y − ref| ≤ Σ over blocks of ( 2^-e · ulp16(2^e · partial) + length · 2^-24 · Σ|a·w| ).

use half::f16;
use kernel_gen::ir::{Kernel, OperandRole, ReferenceCase};
use kernel_gen::{Verified, cost};

use super::Trial;
use crate::product::{Expected, OVERFLOW, ulp16};

/// The reference of one trial.
pub(super) struct Judge<'a> {
    kernel: &'a Kernel,
    contraction: usize,
    tile: usize,
    extents: Vec<usize>,
    /// Effective values of every operand; outputs are empty.
    effective: Vec<Vec<f64>>,
}

/// What one row may be.
pub(super) struct Row {
    pub columns: Vec<Expected>,
    /// Largest magnitude a partial sum reaches in FP16; not finite when an operand is not.
    pub largest_partial: f64,
}

impl<'a> Judge<'a> {
    pub fn new(kernel: &'a Verified, trial: &Trial, contraction_tile: usize, effective: Vec<Vec<f64>>) -> Judge<'a> {
        Judge {
            kernel: kernel.kernel(),
            contraction: cost::contraction_axis(kernel).0,
            tile: contraction_tile,
            extents: trial.extents.clone(),
            effective,
        }
    }

    /// The reference of the token rows in `rows`, each scaled by the power of two `exponents` has for it.
    pub fn rows(&self, rows: &[usize], exponents: &[i32]) -> Vec<Row> {
        let operands = self.scaled(rows, exponents);
        let mut extents = self.extents.clone();
        extents[0] = rows.len();
        let length = extents[self.contraction];
        let blocks: Vec<Block> = (0..length)
            .step_by(self.tile)
            .map(|start| Block::cut(self, &extents, &operands, start..length.min(start + self.tile)))
            .collect();
        let whole = Block::cut(self, &extents, &operands, 0..length);
        let integers = operands.iter().flatten().all(|x| x.fract() == 0.0);
        let width = self.width();
        let cases: Vec<_> = blocks.iter().map(|block| block.cases(self.kernel)).collect();
        let (whole_case, whole_magnitude) = whole.cases(self.kernel);
        rows.iter()
            .enumerate()
            .map(|(i, &row)| {
                let (scale, unscale) = (2f64.powi(exponents[row]), 2f64.powi(-exponents[row]));
                let mut largest_partial = 0f64;
                let columns = (0..width)
                    .map(|j| {
                        let element = |case: &ReferenceCase<'_>| self.kernel.reference.element(case, i, j);
                        let value = element(&whole_case);
                        let mut bound = 0.0;
                        for (block, (case, magnitude)) in blocks.iter().zip(&cases) {
                            let partial = if blocks.len() == 1 { value } else { element(case) } * scale;
                            // Not a number counts as overflow.
                            largest_partial =
                                if partial.is_nan() { f64::INFINITY } else { largest_partial.max(partial.abs()) };
                            bound +=
                                unscale * ulp16(partial) + block.length as f64 * 2f64.powi(-24) * element(magnitude);
                        }
                        let exact = integers && element(&whole_magnitude) <= 2048.0;
                        Expected { value, bound: if exact { 0.0 } else { bound } }
                    })
                    .collect();
                Row { columns, largest_partial }
            })
            .collect()
    }

    /// Output columns.
    pub fn width(&self) -> usize {
        let output = self.kernel.operands.iter().find(|o| o.role == OperandRole::Output);
        output.map_or(0, |o| self.extents[o.axes[1].0])
    }

    /// Operands cut to the token rows, activations as FP16 holds them: fp16(x·2^e)·2^-e.
    fn scaled(&self, rows: &[usize], exponents: &[i32]) -> Vec<Vec<f64>> {
        let operands = self.kernel.operands.iter().zip(&self.effective);
        operands
            .map(|(operand, values)| {
                if operand.axes[0].0 != 0 || values.is_empty() {
                    return values.clone();
                }
                let cols = self.extents[operand.axes[1].0];
                let round = operand.role == OperandRole::Activation;
                rows.iter()
                    .flat_map(|&row| {
                        let (scale, unscale) = (2f64.powi(exponents[row]), 2f64.powi(-exponents[row]));
                        let values = &values[row * cols..(row + 1) * cols];
                        values.iter().map(move |&x| if round { f16::from_f64(x * scale).to_f64() * unscale } else { x })
                    })
                    .collect()
            })
            .collect()
    }
}

/// The operands over one block of the contraction, and their magnitudes.
struct Block {
    extents: Vec<usize>,
    length: usize,
    operands: Vec<Vec<f64>>,
    magnitudes: Vec<Vec<f64>>,
}

impl Block {
    fn cut(judge: &Judge<'_>, extents: &[usize], operands: &[Vec<f64>], range: std::ops::Range<usize>) -> Block {
        let cut = |index: usize| -> Vec<f64> {
            let values = &operands[index];
            if values.is_empty() {
                return Vec::new();
            }
            let [rows, cols] = judge.kernel.operands[index].axes;
            let width = extents[cols.0];
            let kept_rows = if rows.0 == judge.contraction { range.clone() } else { 0..extents[rows.0] };
            let kept_cols = if cols.0 == judge.contraction { range.clone() } else { 0..width };
            kept_rows.flat_map(|r| &values[r * width..][kept_cols.clone()]).copied().collect()
        };
        let operands: Vec<Vec<f64>> = (0..operands.len()).map(cut).collect();
        let magnitudes = operands.iter().map(|o| o.iter().map(|x| x.abs()).collect()).collect();
        let mut extents = extents.to_vec();
        extents[judge.contraction] = range.len();
        Block { extents, length: range.len(), operands, magnitudes }
    }

    /// The values and the magnitudes as cases of the reference.
    fn cases(&self, kernel: &Kernel) -> (ReferenceCase<'_>, ReferenceCase<'_>) {
        (self.case(kernel, &self.operands), self.case(kernel, &self.magnitudes))
    }

    fn case<'b>(&self, kernel: &Kernel, operands: &'b [Vec<f64>]) -> ReferenceCase<'b> {
        let slices: Vec<&[f64]> = operands.iter().map(Vec::as_slice).collect();
        ReferenceCase::new(kernel, &self.extents, &slices).expect("operands were cut to the extents")
    }
}

/// Whether a row with this largest partial sum must be flagged, must not be, or may be: at the threshold the rounding of
/// the partial sum decides.
pub(super) fn must_flag(largest_partial: f64) -> Option<bool> {
    if largest_partial >= OVERFLOW * 1.002 {
        Some(true)
    } else if largest_partial < OVERFLOW * 0.998 {
        Some(false)
    } else {
        None
    }
}
