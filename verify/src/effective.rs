//! Effective weights: the values a product is computed with once a weight is stored in a narrower type.

use half::f16;

/// FP16 weights: each value rounded to nearest even.
pub fn f16_weights(weights: &[f32]) -> Vec<f64> {
    weights.iter().map(|&w| f16::from_f32(w).to_f64()).collect()
}

/// Q4_0 weights of a row-major `[out][in]` matrix by ggml's rule: blocks of 32 along the input, d = x / −8 of the x with the
/// largest magnitude, kept as FP16, q = min(15, ⌊x / d + 8.5⌋), effective weight = fp16((q − 8) · d).
pub fn q4_weights(weights: &[f32], in_: usize) -> Vec<f64> {
    let mut effective = Vec::with_capacity(weights.len());
    for block in weights.chunks(in_).flat_map(|row| row.chunks(32)) {
        let mut largest = 0f32;
        for &w in block {
            if w.abs() > largest.abs() {
                largest = w;
            }
        }
        let d = largest / -8.0;
        let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
        let stored = f16::from_f32(d).to_f64();
        for &w in block {
            let q = ((w * inverse + 8.5) as i32).min(15) - 8;
            effective.push(f16::from_f64(f64::from(q) * stored).to_f64());
        }
    }
    effective
}

/// Q8_0 weights of a row-major `[out][in]` matrix by ggml's rule: blocks of 32 along the input, d = amax / 127 kept as
/// FP16, q = round(w · 127 / amax) away from zero at ties, effective weight = fp16(q · d).
pub fn q8_weights(weights: &[f32], in_: usize) -> Vec<f64> {
    let mut effective = Vec::with_capacity(weights.len());
    for row in weights.chunks(in_) {
        for block in row.chunks(32) {
            let amax = block.iter().fold(0f32, |m, w| m.max(w.abs()));
            let d = amax / 127.0;
            let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
            let stored = f16::from_f32(d).to_f64();
            for &w in block {
                let q = (w * inverse).round() as f64;
                effective.push(f16::from_f64(q * stored).to_f64());
            }
        }
    }
    effective
}
