//! The C functional models compiled by the build script: the only file that calls into them.

use std::ffi::CStr;
use std::fmt;
use std::ptr::NonNull;

use super::loaded::LoadedModel;
use crate::abi;
use crate::config::Overflow;

/// A compiled functional model of the NPU. All of them give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Poisoned VTCM, deferred DMA and scatter, traps with the kernel's source position.
    Checked,
    /// Plain C.
    Portable,
    /// AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ and VL.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AArch64 NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Kernels somebody else compiled, loaded at run time.
    Loaded(LoadedModel),
}

unsafe extern "C" {
    static pf_model_checked: abi::pf_model_table;
    static pf_model_portable: abi::pf_model_table;
    #[cfg(target_arch = "x86_64")]
    static pf_model_avx2: abi::pf_model_table;
    #[cfg(target_arch = "x86_64")]
    static pf_model_avx512: abi::pf_model_table;
    #[cfg(target_arch = "aarch64")]
    static pf_model_neon: abi::pf_model_table;
}

impl Variant {
    /// Every variant this processor can run, the fastest last.
    pub fn available() -> Vec<Variant> {
        #[allow(unused_mut, reason = "some architectures have the two below only")]
        let mut variants = vec![Variant::Checked, Variant::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 =
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx2 {
                variants.push(Variant::Avx2);
            }
            if avx2 && avx512 {
                variants.push(Variant::Avx512);
            }
        }
        #[cfg(target_arch = "aarch64")]
        variants.push(Variant::Neon);
        variants
    }

    /// The variant for a run.
    pub fn select(checked: bool) -> Variant {
        if checked { Variant::Checked } else { Variant::available().last().copied().unwrap_or(Variant::Portable) }
    }

    fn table(self) -> &'static abi::pf_model_table {
        // SAFETY: constant tables of the C library the build script linked; nothing writes them.
        unsafe {
            match self {
                Variant::Checked => &pf_model_checked,
                Variant::Portable => &pf_model_portable,
                #[cfg(target_arch = "x86_64")]
                Variant::Avx2 => &pf_model_avx2,
                #[cfg(target_arch = "x86_64")]
                Variant::Avx512 => &pf_model_avx512,
                #[cfg(target_arch = "aarch64")]
                Variant::Neon => &pf_model_neon,
                Variant::Loaded(model) => model.table(),
            }
        }
    }
}

/// Why a device did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceFault {
    /// The device and this program were built from different interfaces.
    BadAbi,
    /// The plan is for another kernel or does not fit the device's VTCM.
    BadPlan,
    /// An operand is too small or an extent is not the plan's.
    BadRequest,
    /// Another client of the NPU keeps its VTCM.
    Busy,
    /// The checked model stopped the kernel: rule, numbers and source position.
    Trapped(String),
    /// A status this program does not know, or a thread of the device ended.
    Lost(String),
}

impl DeviceFault {
    /// What an `enum pf_status` says; `trap` is the text of the rule, asked for where one was broken.
    ///
    /// # Errors
    /// Every status but `PF_OK`.
    pub fn of_status(status: i32, trap: impl FnOnce() -> String) -> Result<(), DeviceFault> {
        match u32::try_from(status) {
            Ok(abi::PF_OK) => Ok(()),
            Ok(abi::PF_BAD_ABI) => Err(DeviceFault::BadAbi),
            Ok(abi::PF_BAD_PLAN) => Err(DeviceFault::BadPlan),
            Ok(abi::PF_BAD_REQUEST) => Err(DeviceFault::BadRequest),
            Ok(abi::PF_BUSY) => Err(DeviceFault::Busy),
            Ok(abi::PF_TRAPPED) => Err(DeviceFault::Trapped(trap())),
            Ok(status) => Err(DeviceFault::Lost(super::status::words(status))),
            Err(_) => Err(DeviceFault::Lost(format!("the device returned {status}, which is no status"))),
        }
    }
}

impl fmt::Display for DeviceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceFault::BadAbi => f.write_str("the device was built from another version of the wire ABI"),
            DeviceFault::BadPlan => f.write_str("the device refuses the plan"),
            DeviceFault::BadRequest => f.write_str("the device refuses the request"),
            DeviceFault::Busy => f.write_str("another program keeps the NPU's VTCM; end it or try again later"),
            DeviceFault::Trapped(fault) => {
                write!(f, "the checked model stopped the kernel: {fault}")
            }
            DeviceFault::Lost(what) => f.write_str(what),
        }
    }
}

/// Work a device did since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// HMX multiply packets.
    pub packets: u64,
    /// Tile pairs multiplied.
    pub tiles: u64,
    /// Bytes moved by DMA.
    pub dma_bytes: u64,
    /// DMA descriptors issued.
    pub dma_descriptors: u64,
    /// HVX strip calls.
    pub strips: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: Counts) {
        self.packets += other.packets;
        self.tiles += other.tiles;
        self.dma_bytes += other.dma_bytes;
        self.dma_descriptors += other.dma_descriptors;
        self.strips += other.strips;
    }
}

/// One modelled device.
pub(super) struct Model {
    table: &'static abi::pf_model_table,
    device: NonNull<abi::pf_device>,
}

// SAFETY: a device is plain memory owned by this handle; the C side keeps no thread-local state.
unsafe impl Send for Model {}

impl Model {
    /// `None` when memory is short, or for a number of HVX workers outside 1 to 8.
    pub fn open(variant: Variant, vtcm_bytes: u32, overflow: Overflow, workers: u32) -> Option<Model> {
        let table = variant.table();
        let overflow = match overflow {
            Overflow::Exponent31 => abi::PF_OVERFLOW_EXPONENT31,
            Overflow::Largest => abi::PF_OVERFLOW_LARGEST,
            Overflow::Infinity => abi::PF_OVERFLOW_INFINITY,
        };
        let open = table.open?;
        // SAFETY: open takes three plain numbers and returns a device or null.
        let device = NonNull::new(unsafe { open(vtcm_bytes, overflow, workers) })?;
        Some(Model { table, device })
    }

    /// Runs one request.
    ///
    /// # Safety
    /// Every address in `request` must be valid for the bytes its operand states (4 or 1 per row for exponents and
    /// flags), and nothing else may touch the output rows and flags of `row_begin..row_end` meanwhile.
    pub unsafe fn run(&mut self, plan: &abi::pf_plan, request: &abi::pf_request) -> Result<(), DeviceFault> {
        let (Some(run), Some(fault)) = (self.table.run, self.table.fault) else {
            return Err(DeviceFault::BadAbi);
        };
        // SAFETY: the device is open; plan and request outlive the call; the caller vouches for the addresses.
        let status = unsafe { run(self.device.as_ptr(), plan.kernel, plan, request) };
        DeviceFault::of_status(status, || {
            // SAFETY: the device is open; fault returns a NUL-terminated text it owns until its next run.
            let text = unsafe { CStr::from_ptr(fault(self.device.as_ptr())) };
            text.to_string_lossy().into_owned()
        })
    }

    pub fn counts(&self) -> Counts {
        let mut counts = abi::pf_counts::default();
        if let Some(read) = self.table.counts {
            // SAFETY: the device is open and `counts` is a live struct of the agreed layout.
            unsafe { read(self.device.as_ptr(), &mut counts) };
        }
        Counts {
            packets: counts.packets,
            tiles: counts.tiles,
            dma_bytes: counts.dma_bytes,
            dma_descriptors: counts.dma_descriptors,
            strips: counts.strips,
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if let Some(close) = self.table.close {
            // SAFETY: the device came from open and is closed once.
            unsafe { close(self.device.as_ptr()) };
        }
    }
}
