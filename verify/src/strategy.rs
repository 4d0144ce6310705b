//! Property strategies: one case is one product with everything that may change its bits or its range.

use hexagon_runtime::{Direction, Overflow, Precision};
use proptest::prelude::*;

use crate::family::{Random, RowFamily};

/// One product to try on the functional model.
#[derive(Clone, Debug)]
pub struct Case {
    /// Forward or input gradient.
    pub direction: Direction,
    /// FP16 rows or Q8_0 tiles.
    pub precision: Precision,
    /// Token rows.
    pub rows: usize,
    /// Output features.
    pub out: usize,
    /// Input features.
    pub in_: usize,
    /// What fills the token rows, cycled.
    pub families: Vec<RowFamily>,
    /// Exponent of the largest input, -24..=15.
    pub magnitude: i32,
    /// Exponent of the largest weight; from 4 on partial sums of a full row overflow and the retry rule acts.
    pub weight_magnitude: i32,
    /// What HMX writes for a result past FP16.
    pub overflow: Overflow,
    /// VTCM the planner may use: small ones split the contraction.
    pub vtcm_bytes: u32,
    /// Seed of the data.
    pub seed: u64,
}

impl Case {
    /// Token rows, dense.
    pub fn input(&self) -> Vec<f32> {
        let length = match self.direction {
            Direction::Forward => self.in_,
            Direction::InputGrad => self.out,
        };
        let mut random = Random::new(self.seed);
        (0..self.rows)
            .flat_map(|row| self.families[row % self.families.len()].row(&mut random, length, self.magnitude))
            .collect()
    }

    /// The weight, row-major `[out][in]`. Integers when every row is integers, so that such a case is exact in FP16.
    pub fn weights(&self) -> Vec<f32> {
        let mut random = Random::new(!self.seed);
        let exact = self.families.iter().all(|f| *f == RowFamily::SmallIntegers);
        let top = 2f32.powi(self.weight_magnitude);
        (0..self.out * self.in_)
            .map(|_| if exact { (random.signed() * 2.0).round() } else { random.signed() * top })
            .collect()
    }
}

/// Cases with extents up to `largest`, tails included, for one kernel.
pub fn case(direction: Direction, precision: Precision, largest: usize) -> impl Strategy<Value = Case> {
    let extent = move || prop_oneof![1..=largest, Just(32usize), Just(64), Just(33), Just(31)];
    (
        extent(),
        extent(),
        extent(),
        prop::collection::vec(prop::sample::select(&RowFamily::ALL[..]), 1..4),
        -24..=15i32,
        prop_oneof![-6..=0i32, 1..=8i32],
        prop::sample::select(&Overflow::ALL[..]),
        prop::sample::select(&[48u32 << 10, 128 << 10, 8 << 20][..]),
        any::<u64>(),
    )
        .prop_map(move |(rows, out, in_, families, magnitude, weight_magnitude, overflow, vtcm_bytes, seed)| {
            Case {
                direction,
                precision,
                rows,
                out,
                in_,
                families,
                magnitude,
                weight_magnitude,
                overflow,
                vtcm_bytes,
                seed,
            }
        })
}
