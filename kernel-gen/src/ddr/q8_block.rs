//! One block of Q8_0.

use half::f16;

/// Elements of a block.
pub(super) const LENGTH: usize = 32;

/// 32 neighbours of a row by ggml's rule: d = max|x| / 127 kept as FP16, q = round(x · 127 / max|x|) with halves away from
/// zero; effective value fp16(q·d). Elements beyond the end of the row are 0.
pub(super) struct Q8Block {
    pub d: f16,
    pub quants: [i8; LENGTH],
}

impl Q8Block {
    pub fn of(values: &[f32]) -> Q8Block {
        let largest = values.iter().fold(0f32, |m, x| m.max(x.abs()));
        let d = largest / 127.0;
        let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
        let mut quants = [0; LENGTH];
        for (q, x) in quants.iter_mut().zip(values) {
            *q = (x * inverse).round() as i8;
        }
        Q8Block { d: f16::from_f32(d), quants }
    }

    pub fn effective(&self) -> impl Iterator<Item = f64> {
        let d = self.d.to_f64();
        self.quants.into_iter().map(move |q| f16::from_f64(f64::from(q) * d).to_f64())
    }
}
