//! Hexagon architecture versions a kernel can be planned and emitted for.

use std::fmt;

/// A Hexagon architecture with HMX whose qfloat arithmetic rounds like IEEE: the supported targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arch {
    /// Snapdragon 8 Elite.
    V79,
    /// Snapdragon 8 Elite Gen 5.
    V81,
}

impl Arch {
    /// Every supported architecture.
    pub const ALL: [Arch; 2] = [Arch::V79, Arch::V81];

    /// The number the plan carries: 79 or 81.
    pub const fn number(self) -> u32 {
        match self {
            Arch::V79 => 79,
            Arch::V81 => 81,
        }
    }

    /// VTCM of the phone parts of this architecture, in bytes. A device may grant less; the planner takes what it grants.
    pub const fn vtcm_bytes(self) -> u32 {
        8 * 1024 * 1024
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{}", self.number())
    }
}
