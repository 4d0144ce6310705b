//! One case: everything that may change a kernel's bits or its range.

use std::fmt;

use hexagon_runtime::Overflow;
use kernel_gen::Arch;
use kernel_gen::ir::{Kernel, Operand, OperandRole};
use serde::{Deserialize, Serialize};

use crate::family::{Random, RowFamily};

/// Tile sizes of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tiles {
    /// The planner's, within this many bytes of VTCM.
    Planned {
        /// Bytes.
        vtcm_bytes: u32,
    },
    /// These, in declaration order; reduced where they do not fit VTCM or break a requirement.
    Given(Vec<u32>),
}

/// One case of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// 79 or 81.
    pub arch: u32,
    /// One per axis, token rows first.
    pub extents: Vec<usize>,
    /// Token rows the plan has room for beyond those of the request.
    pub spare_rows: usize,
    /// First token row computed, in strips of 32.
    pub first_strip: usize,
    /// Tile sizes.
    pub tiles: Tiles,
    /// What fills the token rows, cycled.
    pub families: Vec<RowFamily>,
    /// Exponent of the largest input.
    pub magnitude: i32,
    /// Exponent of the largest weight; from 4 on, partial sums of a full row overflow.
    pub weight_magnitude: i32,
    /// What HMX writes for a result past FP16.
    pub overflow: Overflow,
    /// Seed of the data.
    pub seed: u64,
}

impl Trial {
    /// The architecture.
    pub fn arch(&self) -> Arch {
        if self.arch == Arch::V81.number() { Arch::V81 } else { Arch::V79 }
    }

    /// The token rows computed: whole strips from `first_strip` on, at least one row.
    pub fn rows(&self) -> std::ops::Range<usize> {
        let tokens = self.extents.first().copied().unwrap_or(0);
        let last_strip = tokens.saturating_sub(1) / 32;
        self.first_strip.min(last_strip) * 32..tokens
    }

    /// Plain values of one operand, row-major.
    pub fn values(&self, kernel: &Kernel, index: usize) -> Vec<f32> {
        let operand = &kernel.operands[index];
        let [rows, cols] = operand.axes.map(|axis| self.extents[axis.0]);
        let mut random = Random::new(self.seed ^ (index as u64 + 1).wrapping_mul(0x5851_f42d_4c95_7f2d));
        if operand.role == OperandRole::Activation {
            let family = |row: usize| self.families[row % self.families.len()];
            return (0..rows).flat_map(|row| family(row).row(&mut random, cols, self.magnitude)).collect();
        }
        self.constants(operand, &mut random, rows * cols)
    }

    /// What does not change from token to token. Integers when every row is integers, so that such a case is exact.
    fn constants(&self, operand: &Operand, random: &mut Random, count: usize) -> Vec<f32> {
        let exact = self.families.iter().all(|f| *f == RowFamily::SmallIntegers);
        // Only weights decide the range of a product: scales and biases stay near 1.
        let top = if operand.role == OperandRole::Weight { 2f32.powi(self.weight_magnitude) } else { 1.0 };
        (0..count).map(|_| if exact { (random.signed() * 2.0).round() } else { random.signed() * top }).collect()
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        write!(f, "V{}, extents {:?}, token rows {}..{}, ", self.arch, self.extents, rows.start, rows.end)?;
        match &self.tiles {
            Tiles::Planned { vtcm_bytes } => write!(f, "the planner's tiles in {vtcm_bytes} B of VTCM")?,
            Tiles::Given(tiles) => write!(f, "tiles {tiles:?}")?,
        }
        write!(
            f,
            ", rows {:?} up to 2^{}, weights up to 2^{}, overflow {:?}, seed {}",
            self.families, self.magnitude, self.weight_magnitude, self.overflow, self.seed
        )
    }
}
