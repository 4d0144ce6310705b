//! Seeded operands for a run.

use kernel_gen::ir::{Kernel, OperandRole};

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(super) struct Random(u64);

impl Random {
    /// A stream for `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [-1, 1).
    fn signed(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }
}

/// Row-major values of operand `index`: uniform in ±1, weights in ±1/√`contraction`, so that outputs are of the size of
/// inputs and no partial sum overflows.
pub(super) fn values(kernel: &Kernel, index: usize, extents: &[usize], contraction: usize, seed: u64) -> Vec<f32> {
    let operand = &kernel.operands[index];
    let [rows, cols] = operand.shape(extents);
    if operand.role == OperandRole::Output {
        return vec![0.0; rows * cols];
    }
    let top = if operand.role == OperandRole::Weight { (contraction as f32).sqrt().recip() } else { 1.0 };
    let mut random = Random::new(seed.wrapping_mul(31).wrapping_add(index as u64));
    (0..rows * cols).map(|_| random.signed() * top).collect()
}

/// e = 12 − ⌊log2 max|x|⌋ within ±126: the row's largest magnitude becomes 2^12 to 2^13.
pub(super) fn row_exponent(row: &[f32]) -> i32 {
    let largest = row.iter().fold(0f32, |m, x| m.max(x.abs()));
    if largest == 0.0 { 0 } else { (12 - f64::from(largest).log2().floor() as i32).clamp(-126, 126) }
}
