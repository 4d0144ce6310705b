//! Plans: tile sizes and VTCM layout for one kernel and one shape, made on the CPU and obeyed by the device.

mod error;
mod layout;
mod record;
mod requirement;
mod search;
mod solve;

use std::fmt;

pub use error::{Broken, PlanError, Share};
pub use record::{ABI_VERSION, MAX_AXES, MAX_OPERANDS, MAX_TUNABLES, MAX_WINDOWS, PlanRecord, WindowRecord};
pub use solve::solve;

pub use crate::rules::limits::MAX_EXTENT;

use crate::{Arch, verify::Verified};

/// The last bytes of VTCM, where the device library keeps the HMX bias record.
pub const RESERVED_BYTES: u32 = 2048;

/// An axis with its extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedAxis {
    /// Name.
    pub name: String,
    /// Elements; for the token axis the bucket.
    pub extent: u32,
}

/// A tunable with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTunable {
    /// Name.
    pub name: String,
    /// Value.
    pub value: u32,
}

/// A window with its place in VTCM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedWindow {
    /// Name.
    pub name: String,
    /// Bytes from the VTCM base, a multiple of 2048.
    pub offset: u32,
    /// Bytes of one stage, a multiple of 2048.
    pub stage_bytes: u32,
    /// Stages.
    pub stages: u32,
}

/// Tile sizes and VTCM layout of one kernel for one shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Kernel.
    pub kernel: String,
    /// Its id: FNV-1a of the name.
    pub kernel_id: u32,
    /// Architecture.
    pub arch: Arch,
    /// Axes in declaration order.
    pub axes: Vec<PlannedAxis>,
    /// Tunables in declaration order.
    pub tunables: Vec<PlannedTunable>,
    /// Windows in declaration order.
    pub windows: Vec<PlannedWindow>,
    /// End of the last window.
    pub vtcm_bytes: u32,
}

impl Plan {
    /// A plan with the given tile sizes, for the tuner and for tests that want every legal choice.
    ///
    /// # Errors
    /// A tile size the kernel does not allow, or a layout that does not fit `vtcm_bytes`.
    pub fn with_tunables(
        kernel: &Verified,
        arch: Arch,
        axes: &[u32],
        vtcm_bytes: u32,
        tunables: &[u32],
    ) -> Result<Plan, PlanError> {
        layout::place(kernel, arch, axes, vtcm_bytes, tunables)
    }

    /// The value of a tunable.
    pub fn tunable(&self, name: &str) -> Option<u32> {
        self.tunables.iter().find(|t| t.name == name).map(|t| t.value)
    }

    /// The identity of the plan: [`PlanRecord::hash`].
    pub fn hash(&self) -> u64 {
        self.record().hash
    }

    /// The plan as the device reads it.
    pub fn record(&self) -> PlanRecord {
        PlanRecord::of(self)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kernel, self.arch)?;
        for axis in &self.axes {
            write!(f, " {}={}", axis.name, axis.extent)?;
        }
        write!(f, " |")?;
        for tunable in &self.tunables {
            write!(f, " {}={}", tunable.name, tunable.value)?;
        }
        write!(f, " |")?;
        for window in &self.windows {
            write!(f, " {}@{:#x}:{}", window.name, window.offset, window.stage_bytes)?;
            if window.stages > 1 {
                write!(f, "x{}", window.stages)?;
            }
        }
        write!(f, " | {} B of VTCM, plan {:016x}", self.vtcm_bytes, self.hash())
    }
}
