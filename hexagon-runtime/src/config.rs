use std::path::PathBuf;

use crate::faults::Faults;
use crate::{Arch, Precision, SESSION_BYTES};

/// Where products with frozen weights are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// The CPU float path: f32 GEMM on the effective weights.
    Cpu,
    /// The emitted kernels on the in-process functional model of the NPU.
    Model {
        /// `true`: the sanitizing model (poisoned VTCM, deferred DMA, traps). `false`: SIMD bodies, the same bits.
        checked: bool,
    },
}

/// What the functional model writes where an HMX result does not fit FP16; the sources disagree about the chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Overflow {
    /// One more binade (exponent 31), then ±0x7FFF.
    #[default]
    Exponent31,
    /// ±65504 (0x7BFF).
    Largest,
    /// IEEE ±Inf.
    Infinity,
}

impl Overflow {
    /// All three behaviours, for tests.
    pub const ALL: [Overflow; 3] = [Overflow::Exponent31, Overflow::Largest, Overflow::Infinity];
}

/// Everything a [`crate::RuntimeBuilder`] needs to know before the first weight.
#[derive(Clone, Debug)]
pub struct RuntimeConfig {
    /// The device.
    pub device: DeviceKind,
    /// How weights are kept; [`Precision::F32`] needs [`DeviceKind::Cpu`].
    pub precision: Precision,
    /// Host threads that compute (at least 1). The number never changes a bit.
    pub threads: usize,
    /// Token counts plans are made for. Requests use the smallest bucket that holds them; larger ones are split.
    pub token_buckets: Vec<usize>,
    /// Architecture plans are made for.
    pub arch: Arch,
    /// VTCM the planner may use, in bytes (phone parts: 8 MiB).
    pub vtcm_bytes: u32,
    /// Bytes of weights one NPU session may map; what is more goes to further sessions, each with devices of its own. The
    /// split never changes a bit.
    pub session_bytes: u64,
    /// Overflow behaviour of the functional model.
    pub overflow: Overflow,
    /// Faults for tests; those in the environment variable `PERMAFROST_FAULTS` are added to these.
    pub faults: Faults,
    /// A shared object with functional-model kernels to run in place of the built-in ones.
    pub kernel_library: Option<PathBuf>,
    /// Compare a few rows of every projection with the CPU float path before the first request.
    pub startup_check: bool,
}

impl RuntimeConfig {
    /// The token buckets, ascending, each once.
    pub(crate) fn buckets(&self) -> Vec<usize> {
        let mut buckets = self.token_buckets.clone();
        buckets.sort_unstable();
        buckets.dedup();
        buckets
    }
}

impl Default for RuntimeConfig {
    /// Fast functional model, Q8, every core, V79 with 8 MiB of VTCM, start-up check on.
    fn default() -> Self {
        RuntimeConfig {
            device: DeviceKind::Model { checked: false },
            precision: Precision::Q8,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
            token_buckets: vec![32, 128, 512, 2048],
            arch: Arch::V79,
            vtcm_bytes: 8 << 20,
            session_bytes: SESSION_BYTES,
            overflow: Overflow::default(),
            faults: Faults::default(),
            kernel_library: None,
            startup_check: true,
        }
    }
}
