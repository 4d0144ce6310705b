//! Why a shape has no plan.

use std::fmt;

use crate::{
    Arch,
    ir::{Source, Window},
};

/// What one window takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// Window.
    pub window: String,
    /// Bytes of one stage.
    pub stage_bytes: u64,
    /// Stages.
    pub stages: u32,
}

impl Share {
    /// What `window` takes for the values of all tunables. Bytes beyond `u64` saturate: they fit nowhere.
    pub(crate) fn of(window: &Window, tunables: &[u32]) -> Share {
        let value = |index: usize| tunables.get(index).copied().unwrap_or(u32::MAX);
        Share {
            window: window.name.clone(),
            stage_bytes: window.stage_bytes(window.extents.map(|t| value(t.0))).unwrap_or(u64::MAX),
            stages: window.stages,
        }
    }

    /// Bytes of all stages.
    pub fn bytes(&self) -> u64 {
        self.stage_bytes.saturating_mul(u64::from(self.stages))
    }
}

/// `4096 B × 2 stages`
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.stages == 1 { "" } else { "s" };
        write!(f, "{} B × {} stage{plural}", self.stage_bytes, self.stages)
    }
}

/// A requirement that tile sizes break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The requirement as it was written.
    pub text: String,
    /// Where it is written.
    pub position: Source,
    /// What it depends on, with the values.
    pub values: String,
    /// If it is a comparison, its left and right side; `None` for arithmetic without a value.
    pub sides: Option<[Option<u64>; 2]>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} break `require {}`", self.values, self.text)?;
        if let Some([left, right]) = self.sides.map(|sides| sides.map(number)) {
            write!(f, ", {left} on the left and {right} on the right")?;
        }
        write!(f, " ({})", self.position)
    }
}

/// A number of a requirement's arithmetic.
pub(super) fn number(value: Option<u64>) -> String {
    value.map_or("no value".into(), |value| value.to_string())
}

/// No plan, and what would make one possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Wrong number of extents.
    #[error(
        "kernel `{kernel}` has {expected} axes, {given} extents were given: pass one per axis, in declaration order"
    )]
    AxisCount {
        /// Kernel.
        kernel: String,
        /// Axes it has.
        expected: usize,
        /// Extents given.
        given: usize,
    },
    /// An extent of zero or beyond [`super::MAX_EXTENT`].
    #[error("axis `{axis}` of kernel `{kernel}` has extent {extent}: it must lie in 1..={limit}")]
    Extent {
        /// Kernel.
        kernel: String,
        /// Axis.
        axis: String,
        /// Extent given.
        extent: u32,
        /// Largest one.
        limit: u32,
    },
    /// An extent that is not a whole number of blocks.
    #[error(
        "axis `{axis}` of kernel `{kernel}` has extent {extent}: operand `{operand}` lies along it in {format} of 32 elements, so \
         it must be a multiple of 32; use a kernel with tiles, whose last tile is padded, for other extents"
    )]
    Blocks {
        /// Kernel.
        kernel: String,
        /// Axis.
        axis: String,
        /// Extent given.
        extent: u32,
        /// Operand in blocks.
        operand: String,
        /// Its format.
        format: &'static str,
    },
    /// Wrong number of tile sizes.
    #[error(
        "kernel `{kernel}` has {expected} tunables, {given} values were given: pass one each, in declaration order"
    )]
    TunableCount {
        /// Kernel.
        kernel: String,
        /// Tunables it has.
        expected: usize,
        /// Values given.
        given: usize,
    },
    /// A tile size outside its candidates.
    #[error("tunable `{tunable}` of kernel `{kernel}` cannot be {value}: take {allowed}")]
    Tunable {
        /// Kernel.
        kernel: String,
        /// Tunable.
        tunable: String,
        /// Value given.
        value: u32,
        /// The legal values.
        allowed: String,
    },
    /// Tile sizes that break a requirement of the kernel.
    #[error("kernel `{kernel}` on {arch}: {broken}: {way_out}")]
    Requirement {
        /// Kernel.
        kernel: String,
        /// Architecture.
        arch: Arch,
        /// The requirement, with what it compares.
        broken: Box<Broken>,
        /// What to do.
        way_out: String,
    },
    /// No choice of tile sizes satisfies the requirements.
    #[error(
        "no tile sizes of kernel `{kernel}` on {arch} satisfy its requirements for this shape and fit {vtcm_bytes} B of VTCM, \
         {tried} were tried: {broken}; allow other candidates or loosen it"
    )]
    Unsatisfied {
        /// Kernel.
        kernel: String,
        /// Architecture.
        arch: Arch,
        /// VTCM the plan is for.
        vtcm_bytes: u32,
        /// Choices tried.
        tried: usize,
        /// The requirement that refused the last of them.
        broken: Box<Broken>,
    },
    /// A window beyond the budget.
    #[error("window `{}` of kernel `{kernel}` needs {needs}; {arch} grants {vtcm_bytes} B of VTCM, {reserved} B of it are reserved and {} B are taken by {}: {advice}",
        .needs.window, taken_bytes(.taken), Names(.taken))]
    Capacity {
        /// Kernel.
        kernel: String,
        /// The largest window.
        needs: Share,
        /// The other windows.
        taken: Vec<Share>,
        /// Architecture.
        arch: Arch,
        /// VTCM the device grants.
        vtcm_bytes: u32,
        /// Bytes of it the device library keeps.
        reserved: u32,
        /// What to do.
        advice: String,
    },
    /// A DMA descriptor field overflows.
    #[error(
        "loading window `{window}` of kernel `{kernel}` needs a DMA {field} of {value}, its descriptor field ends at {limit}: use a smaller {cure}"
    )]
    Dma {
        /// Kernel.
        kernel: String,
        /// Window.
        window: String,
        /// Descriptor field.
        field: &'static str,
        /// Value needed.
        value: u64,
        /// Largest value.
        limit: u64,
        /// Tunable or axis to shrink.
        cure: String,
    },
}

fn taken_bytes(taken: &[Share]) -> u64 {
    taken.iter().fold(0, |sum, share| sum.saturating_add(share.bytes()))
}

struct Names<'a>(&'a [Share]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("other windows");
        }
        for (index, share) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "`{}` ({share})", share.window)?;
        }
        Ok(())
    }
}
