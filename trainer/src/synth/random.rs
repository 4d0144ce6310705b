//! Random values by their place. Only operations that IEEE 754 defines to the bit are used (no library logarithm or
//! sine), so that every machine makes the same values.

use std::f32::consts::{LN_2, SQRT_2, TAU};

use crate::nodes::mix;
use kernel_gen::fnv1a_64;

/// The values of one tensor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    key: u64,
}

impl Source {
    /// The tensor called `name` under `seed`.
    pub fn new(seed: u64, name: &str) -> Source {
        Source { key: mix(mix(seed) ^ fnv1a_64(name.as_bytes())) }
    }

    /// Elements `first..first + out.len()` of a normal distribution of mean 0 and deviation `deviation` (Box and Muller,
    /// two values a draw); `first` is even.
    pub fn normal(&self, first: u64, deviation: f32, out: &mut [f32]) {
        for (pair, out) in out.chunks_mut(2).enumerate() {
            let bits = mix(self.key.wrapping_add(first / 2 + pair as u64));
            // In (0, 1], so that the logarithm is finite.
            let radius = deviation * (-2.0 * ln(((bits >> 40) + 1) as f32 / TWO_24)).sqrt();
            let (sine, cosine) = turn((bits & 0xFF_FFFF) as f32 / TWO_24);
            for (out, direction) in out.iter_mut().zip([cosine, sine]) {
                *out = radius * direction;
            }
        }
    }

    /// Elements of ln u, u uniform in `low..high`.
    pub fn log_uniform(&self, first: u64, (low, high): (f32, f32), out: &mut [f32]) {
        for (at, out) in out.iter_mut().enumerate() {
            let bits = mix(self.key.wrapping_add(first + at as u64));
            *out = ln(low + (high - low) * ((bits >> 40) as f32 / TWO_24));
        }
    }
}

const TWO_24: f32 = 16_777_216.0;

/// ln x for positive normal x, to about 1e-7: exponent and the series of artanh.
fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    let (mut exponent, mut mantissa) = ((bits >> 23) as i32 - 127, f32::from_bits(bits & 0x7F_FFFF | 0x3F80_0000));
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = 1.0 + square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0 + square * (1.0 / 9.0))));
    2.0 * s * series + exponent as f32 * LN_2
}

/// Sine and cosine of 2πv for v in [0, 1): the nearest quarter turn, and Taylor's series around it.
fn turn(v: f32) -> (f32, f32) {
    let quarter = (4.0 * v + 0.5) as u32;
    let t = (v - quarter as f32 * 0.25) * TAU;
    let square = t * t;
    let sine = t * (1.0 - square * (1.0 / 6.0 - square * (1.0 / 120.0 - square * (1.0 / 5040.0))));
    let cosine = 1.0 - square * (1.0 / 2.0 - square * (1.0 / 24.0 - square * (1.0 / 720.0 - square * (1.0 / 40320.0))));
    match quarter & 3 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_and_turn_agree_with_f64() {
        for step in 1..100_000u32 {
            let x = step as f32 / 6000.0;
            let exact = f64::from(x).ln();
            assert!((f64::from(ln(x)) - exact).abs() < 2e-7 * (1.0 + exact.abs()), "ln {x}");
            let v = step as f32 / 100_000.0;
            let (sine, cosine) = turn(v);
            let angle = f64::from(v) * std::f64::consts::TAU;
            assert!((f64::from(sine) - angle.sin()).abs() < 5e-7, "sin {v}");
            assert!((f64::from(cosine) - angle.cos()).abs() < 5e-7, "cos {v}");
        }
    }

    #[test]
    fn values_are_normal_and_depend_on_their_place_alone() {
        let source = Source::new(1, "w");
        let mut all = vec![0.0; 100_000];
        source.normal(0, 0.02, &mut all);
        let mean = |power: i32| all.iter().map(|x| (f64::from(*x) / 0.02).powi(power)).sum::<f64>() / all.len() as f64;
        assert!(mean(1).abs() < 0.01 && (mean(2) - 1.0).abs() < 0.02, "{} {}", mean(1), mean(2));
        assert!(mean(3).abs() < 0.05 && (mean(4) - 3.0).abs() < 0.1, "{} {}", mean(3), mean(4));
        let mut part = [0.0; 33];
        source.normal(500, 0.02, &mut part);
        assert_eq!(part, all[500..533]);
        for other in [Source::new(2, "w"), Source::new(1, "v")] {
            other.normal(500, 0.02, &mut part);
            assert_ne!(part, all[500..533]);
        }
    }

    #[test]
    fn values_are_the_same_bits_everywhere() {
        let mut values = [0.0; 4];
        Source::new(0, "model.norm.weight").normal(0, 1.0, &mut values);
        assert_eq!(values.map(f32::to_bits), [3_213_745_198, 3_210_699_757, 1_065_794_372, 1_046_043_014]);
    }
}
