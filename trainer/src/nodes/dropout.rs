//! Random numbers from a counter: every value depends on its key and place only, never on what was
//! drawn before, so that masks are the same whatever the threads, the micro-batches or the resume.

/// Mixes 64 bits so that each output bit depends on every input bit (the finaliser of SplitMix64,
/// Steele, Lea and Flood, OOPSLA 2014).
#[inline(always)]
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number in [0, 1) with 24 random bits.
#[inline(always)]
pub(crate) fn unit(bits: u64) -> f32 {
    (bits >> 40) as f32 * (1.0 / 16_777_216.0)
}

/// Where the masks of a micro-batch come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropoutKey {
    /// The run's seed.
    pub seed: u64,
    /// Optimizer step.
    pub step: u64,
    /// Tokens of the step in earlier micro-batches: masks do not depend on how a step is cut.
    pub first_token: u64,
}

impl DropoutKey {
    /// `out = x · mask / (1 − rate)`, both `[rows, width]`; `projection` tells masks apart.
    pub(super) fn drop(&self, projection: u64, rate: f32, width: usize, x: &[f32], out: &mut [f32]) {
        let keep = 1.0 / (1.0 - rate);
        let key = mix(mix(self.seed ^ mix(self.step)) ^ projection);
        let first = self.first_token * width as u64;
        for (i, (out, x)) in out.iter_mut().zip(x).enumerate() {
            let drawn = unit(mix(key.wrapping_add(first + i as u64)));
            *out = if drawn < rate { 0.0 } else { x * keep };
        }
    }
}

/// Values in [−1, 1) for tests.
#[cfg(test)]
pub(crate) fn test_values(seed: u64, len: usize) -> Vec<f32> {
    (0..len as u64).map(|i| 2.0 * unit(mix(seed << 32 | i)) - 1.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_have_the_rate_and_the_mean_and_do_not_depend_on_the_cut() {
        let (width, rows) = (64, 512);
        let x = vec![1.0; width * rows];
        let mut whole = x.clone();
        let key = DropoutKey { seed: 7, step: 3, first_token: 0 };
        key.drop(5, 0.25, width, &x, &mut whole);
        let dropped = whole.iter().filter(|v| **v == 0.0).count() as f64 / whole.len() as f64;
        assert!((dropped - 0.25).abs() < 0.01, "{dropped}");
        let mut part = vec![0.0; width * 12];
        DropoutKey { first_token: 500, ..key }.drop(5, 0.25, width, &x[..width * 12], &mut part);
        assert_eq!(part, whole[width * 500..]);
        let mut other = x.clone();
        key.drop(6, 0.25, width, &x, &mut other);
        assert_ne!(other, whole);
    }
}
