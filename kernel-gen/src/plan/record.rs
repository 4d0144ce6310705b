//! The plan as `struct pf_plan` of `device/abi.h`.

use super::Plan;
pub use crate::rules::limits::{MAX_AXES, MAX_OPERANDS, MAX_TUNABLES, MAX_WINDOWS};

use crate::fnv1a_64;

/// `PF_ABI_VERSION`.
pub const ABI_VERSION: u32 = 2;

/// `struct pf_window`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowRecord {
    /// Bytes from the VTCM base.
    pub offset: u32,
    /// Bytes of one stage.
    pub stage_bytes: u32,
    /// Stages.
    pub stages: u32,
    /// Zero.
    pub reserved: u32,
}

/// `struct pf_plan`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanRecord {
    /// [`ABI_VERSION`].
    pub abi_version: u32,
    /// Size of the struct.
    pub bytes: u32,
    /// 79 or 81.
    pub arch: u32,
    /// Kernel id.
    pub kernel: u32,
    /// Extents; zero beyond the kernel's axes.
    pub axes: [u32; MAX_AXES],
    /// Tile sizes; zero beyond the kernel's tunables.
    pub tunables: [u32; MAX_TUNABLES],
    /// Windows; zero beyond `window_count`.
    pub windows: [WindowRecord; MAX_WINDOWS],
    /// Windows in use.
    pub window_count: u32,
    /// End of the last window.
    pub vtcm_bytes: u32,
    /// FNV-1a 64 of the little-endian bytes of every field above.
    pub hash: u64,
}

const _: () = assert!(size_of::<WindowRecord>() == 16 && size_of::<PlanRecord>() == 208);

impl PlanRecord {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut record = PlanRecord {
            abi_version: ABI_VERSION,
            bytes: size_of::<PlanRecord>() as u32,
            arch: plan.arch.number(),
            kernel: plan.kernel_id,
            axes: [0; MAX_AXES],
            tunables: [0; MAX_TUNABLES],
            windows: [WindowRecord::default(); MAX_WINDOWS],
            window_count: plan.windows.len().min(MAX_WINDOWS) as u32,
            vtcm_bytes: plan.vtcm_bytes,
            hash: 0,
        };
        for (slot, axis) in record.axes.iter_mut().zip(&plan.axes) {
            *slot = axis.extent;
        }
        for (slot, tunable) in record.tunables.iter_mut().zip(&plan.tunables) {
            *slot = tunable.value;
        }
        for (slot, window) in record.windows.iter_mut().zip(&plan.windows) {
            *slot = WindowRecord {
                offset: window.offset,
                stage_bytes: window.stage_bytes,
                stages: window.stages,
                reserved: 0,
            };
        }
        record.hash = fnv1a_64(&record.hashed_bytes());
        record
    }

    /// The bytes the hash covers: every field before it, little endian.
    pub fn hashed_bytes(&self) -> Vec<u8> {
        let mut words = vec![self.abi_version, self.bytes, self.arch, self.kernel];
        words.extend(self.axes);
        words.extend(self.tunables);
        for window in &self.windows {
            words.extend([window.offset, window.stage_bytes, window.stages, window.reserved]);
        }
        words.extend([self.window_count, self.vtcm_bytes]);
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// The record as it goes over the wire.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.hashed_bytes();
        bytes.extend(self.hash.to_le_bytes());
        bytes
    }
}
