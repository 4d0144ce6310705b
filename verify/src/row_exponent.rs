//! The exponent every token row is scaled by before it is rounded to FP16.

/// e = 12 − ⌊log2 max|x|⌋, kept within ±126; 0 for a row of zeros.
pub fn row_exponent(row: &[f32]) -> i32 {
    let max = row.iter().fold(0f64, |m, &x| m.max((x as f64).abs()));
    if max == 0.0 { 0 } else { (12 - max.log2().floor() as i32).clamp(-126, 126) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_magnitude_lands_between_2_12_and_2_13() {
        for max in [1.0f32, 1.999_999_9, 2.0, 0.1, 6e4, 1e-20, 3e30] {
            let scaled = max as f64 * 2f64.powi(row_exponent(&[0.0, -max, max / 3.0]));
            assert!((4096.0..8192.0).contains(&scaled), "{max} -> {scaled}");
        }
        assert_eq!(row_exponent(&[0.0; 4]), 0);
    }
}
