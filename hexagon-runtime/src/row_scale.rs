//! The power of two every token row is multiplied by before it is rounded to FP16.

/// Scaled rows have their largest magnitude in `[2^12, 2^13)`.
const TARGET_EXPONENT: i32 = 12;
/// 2^e and 2^-e must both be normal f32 values.
pub(crate) const EXPONENT_LIMIT: i32 = 126;
/// A row that overflowed is sent again with a further 2^-8 …
pub(crate) const RETRY_STEP: i32 = 8;
/// … at most three times.
pub(crate) const RETRIES: usize = 3;
/// What a test fault adds to a row's exponent: the row's largest element becomes 2^20 and more, which FP16 rounds to Inf,
/// and the first retry takes exactly this back.
pub(crate) const FORCED_OVERFLOW: i32 = RETRY_STEP;

/// e = 12 − ⌊log2 max|x|⌋ within ±126; 0 for a zero row.
///
/// # Errors
/// The first column that holds NaN or Inf.
pub(crate) fn row_exponent(row: &[f32]) -> Result<i32, usize> {
    // Magnitudes of finite f32 values order like their bits, and Inf and NaN order above all of them.
    let largest = row.iter().fold(0u32, |largest, x| largest.max(x.to_bits() & 0x7fff_ffff));
    if largest >= f32::INFINITY.to_bits() {
        return Err(row.iter().position(|x| !x.is_finite()).unwrap_or(0));
    }
    if largest == 0 {
        return Ok(0);
    }
    Ok((TARGET_EXPONENT - floor_log2(largest)).clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT))
}

/// The exponent of the next attempt after an overflow.
pub(crate) fn retry_exponent(exponent: i32) -> i32 {
    (exponent - RETRY_STEP).max(-EXPONENT_LIMIT)
}

/// ⌊log2⌋ of a positive finite f32 given by its bits.
fn floor_log2(bits: u32) -> i32 {
    let exponent = (bits >> 23) as i32;
    if exponent > 0 {
        exponent - 127
    } else {
        // Denormal: mantissa × 2^-149.
        31 - bits.leading_zeros() as i32 - 149
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puts_the_largest_magnitude_into_the_target_binade() {
        for power in -114..=127 {
            for factor in [1.0f32, 1.25, 1.999_999_9] {
                let x = factor * 2f32.powi(power);
                let e = row_exponent(&[0.0, -x, x / 3.0]).unwrap();
                let scaled = f64::from(x) * 2f64.powi(e);
                assert!((4096.0..8192.0).contains(&scaled), "{x:e} scaled by 2^{e} is {scaled}");
            }
        }
    }

    #[test]
    fn zero_denormal_and_huge_rows_have_a_defined_exponent() {
        assert_eq!(row_exponent(&[]), Ok(0));
        assert_eq!(row_exponent(&[0.0, -0.0]), Ok(0));
        assert_eq!(row_exponent(&[f32::from_bits(1)]), Ok(126));
        assert_eq!(row_exponent(&[f32::MIN_POSITIVE]), Ok(126));
        assert_eq!(row_exponent(&[2f32.powi(-114)]), Ok(126));
        assert_eq!(row_exponent(&[2f32.powi(-113)]), Ok(125));
        assert_eq!(row_exponent(&[f32::MAX]), Ok(-115));
    }

    #[test]
    fn names_the_first_value_that_is_not_finite() {
        assert_eq!(row_exponent(&[1.0, f32::NAN, f32::INFINITY]), Err(1));
        assert_eq!(row_exponent(&[f32::NEG_INFINITY]), Err(0));
    }

    #[test]
    fn a_retry_stays_within_the_limit() {
        assert_eq!(retry_exponent(12), 4);
        assert_eq!(retry_exponent(-125), -126);
    }
}
