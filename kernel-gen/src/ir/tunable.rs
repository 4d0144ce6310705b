//! Tunables: tile sizes chosen at run time.

use super::{Source, TILE};

/// Index into [`super::Kernel::tunables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TunableId(pub usize);

/// The values a tunable may take, before [`Tunable::multiple_of`] is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Candidates {
    /// `in [32, 64, 128]`.
    List(Vec<u32>),
    /// `in 32..=1024`.
    Range {
        /// Smallest value.
        min: u32,
        /// Largest value.
        max: u32,
    },
}

/// One tile size; a field of the plan, not a constant in C.
#[derive(Debug, Clone)]
pub struct Tunable {
    /// Name.
    pub name: String,
    /// Values it may take.
    pub candidates: Candidates,
    /// Legal values are multiples of this.
    pub multiple_of: u32,
    /// Where it is declared.
    pub source: Source,
}

impl Tunable {
    /// Whether a plan may give this value to the tunable.
    pub fn allows(&self, value: u32) -> bool {
        let granule = self.granule();
        value != 0
            && value.is_multiple_of(granule)
            && match &self.candidates {
                Candidates::List(values) => values.contains(&value),
                Candidates::Range { min, max } => (*min..=*max).contains(&value),
            }
    }

    /// The step between legal values: `multiple_of`, at least a tile.
    pub fn granule(&self) -> u32 {
        self.multiple_of.max(TILE)
    }

    /// Smallest legal value, if there is one.
    pub fn smallest(&self) -> Option<u32> {
        self.at_least(1)
    }

    /// Largest legal value, if there is one.
    pub fn largest(&self) -> Option<u32> {
        self.at_most(u32::MAX)
    }

    /// Smallest legal value that is at least `bound`.
    pub fn at_least(&self, bound: u32) -> Option<u32> {
        match &self.candidates {
            Candidates::List(values) => values.iter().copied().filter(|&v| v >= bound && self.allows(v)).min(),
            Candidates::Range { min, .. } => {
                let value = bound.max(*min).checked_next_multiple_of(self.granule())?;
                self.allows(value).then_some(value)
            }
        }
    }

    /// Largest legal value that is at most `bound`.
    pub fn at_most(&self, bound: u32) -> Option<u32> {
        match &self.candidates {
            Candidates::List(values) => values.iter().copied().filter(|&v| v <= bound && self.allows(v)).max(),
            Candidates::Range { max, .. } => {
                let top = bound.min(*max);
                let value = top - top % self.granule();
                self.allows(value).then_some(value)
            }
        }
    }
}
