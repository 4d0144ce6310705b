//! The exponential without branches, so that loops over it become vector code on every
//! target. No fused multiply-add is used: the bits are the same on every processor.

/// e^x to about 2 units in the last place for x in [−87, 88]; smaller x give 1.6e−38 at most, larger
/// ones 1.6e38 at least, NaN gives NaN.
///
/// x = n·ln 2 + r with |r| ≤ ln 2 / 2, ln 2 split in two constants (Cody and Waite); e^r by the
/// minimax polynomial of Cephes' `expf`.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Adding 1.5·2^23 rounds to an integer, which then stands in the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let mut p = 1.987_569_1e-4;
    p = p * r + 1.398_199_9e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 1.666_666_5e-1;
    p = p * r + 0.5;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    (p * (r * r) + r + 1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::Real;

    #[test]
    fn exp_is_within_two_units_in_the_last_place() {
        let mut worst = 0.0f64;
        for i in -870_000..=880_000 {
            let x = i as f32 * 1e-4;
            let exact = f64::from(x).exp();
            worst = worst.max((f64::from(exp(x)) - exact).abs() / exact);
        }
        assert!(worst < 2.0 * f64::from(f32::EPSILON), "{worst:e}");
    }

    #[test]
    fn exp_of_extremes() {
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NAN).is_nan());
        assert!(exp(f32::NEG_INFINITY) < 2e-38);
        assert!(exp(f32::INFINITY) > 1e38);
        assert_eq!(0.0f32.sigmoid(), 0.5);
        assert!(f32::NAN.sigmoid().is_nan());
    }
}
