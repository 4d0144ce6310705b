//! Families of input rows and weights that have broken matmul kernels, made from a seed.

/// How a token row is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum RowFamily {
    /// Uniform in ±2^magnitude.
    Uniform,
    /// All zeros.
    Zero,
    /// f32 denormals.
    Denormal,
    /// One element 2^20 times the others.
    OneHuge,
    /// Integers in ±8: every product and partial sum is exact.
    SmallIntegers,
    /// Magnitudes spread over 2^±20 inside the row: many elements become FP16 denormals or zero.
    WideSpread,
}

impl RowFamily {
    /// All of them.
    pub const ALL: [RowFamily; 6] = [
        RowFamily::Uniform,
        RowFamily::Zero,
        RowFamily::Denormal,
        RowFamily::OneHuge,
        RowFamily::SmallIntegers,
        RowFamily::WideSpread,
    ];

    /// One row of `length` elements; `magnitude` is the exponent of the largest value where the family has one.
    pub fn row(self, random: &mut Random, length: usize, magnitude: i32) -> Vec<f32> {
        let top = 2f32.powi(magnitude);
        let huge = random.below(length);
        (0..length)
            .map(|i| match self {
                RowFamily::Uniform => random.signed() * top,
                RowFamily::Zero => 0.0,
                RowFamily::Denormal => f32::from_bits(random.bits() as u32 & 0x807f_ffff),
                RowFamily::OneHuge if i == huge => top * 1024.0,
                RowFamily::OneHuge => random.signed() * top * 2f32.powi(-10),
                RowFamily::SmallIntegers => (random.signed() * 8.0).round(),
                RowFamily::WideSpread => random.signed() * top * 2f32.powi(random.below(41) as i32 - 20),
            })
            .collect()
    }
}

/// SplitMix64: small, seeded, and the same everywhere.
pub struct Random(u64);

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
    pub fn signed(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }

    /// Uniform in 0..n.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
}
