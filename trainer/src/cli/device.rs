//! The flags that choose where the frozen projections run.

use std::thread;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use hexagon_runtime::{DeviceKind, Precision, SESSION_BYTES};

use super::error::CliError;
use super::limits::bytes;
use crate::registry::{PrecisionChoice, PrecisionPolicy};
use crate::weight_cache::WeightCachePlace;

/// Where and how frozen projections run.
#[derive(Args, Clone, Debug)]
pub(super) struct DeviceArgs {
    /// Where frozen projections run: the functional model of the NPU, or the CPU.
    #[arg(long, value_enum, default_value_t = Device::Model)]
    pub device: Device,
    /// How their weights are kept: f32, f16 or q8 for all, or by kind, as in recurrent=f16,attention=q8,mlp=q8. auto, also
    /// for a kind left out, is f32 on the CPU device; on the NPU f16 for recurrent layers and q8 elsewhere.
    #[arg(long, default_value = "auto")]
    pub precision: PrecisionChoice,
    /// Host threads, up to 256; all processors by default. The count can change the last bits of CPU sums, never those of the NPU.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Weights one NPU session may map, as a size such as 2800MB; what is more goes to further sessions [default: 3GB].
    #[arg(long, value_parser = bytes)]
    pub session_bytes: Option<ByteSize>,
    /// Folder that keeps the weights quantised to Q8 for the next start, or off [default: beside the model, or the user's cache
    /// folder if nothing can be written there].
    #[arg(long, value_name = "DIR|off")]
    pub weight_cache: Option<WeightCachePlace>,
}

/// A device by name.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum Device {
    /// The functional model of the NPU in this process.
    Model,
    /// The functional model with every check on: poisoned memory, deferred DMA, range traps.
    ModelChecked,
    /// The CPU's float path.
    Cpu,
}

impl DeviceArgs {
    /// The device as the runtime names it.
    pub fn kind(&self) -> DeviceKind {
        match self.device {
            Device::Model => DeviceKind::Model { checked: false },
            Device::ModelChecked => DeviceKind::Model { checked: true },
            Device::Cpu => DeviceKind::Cpu,
        }
    }

    /// The precision of each kind of projection, `auto` resolved: a CPU run without further flags is the exact one.
    pub fn precision(&self) -> Result<PrecisionPolicy, CliError> {
        if self.device == Device::Cpu {
            return Ok(self.precision.over(PrecisionPolicy::uniform(Precision::F32)));
        }
        let policy = self.precision.over(PrecisionPolicy::NPU);
        match [policy.recurrent, policy.attention, policy.mlp].contains(&Precision::F32) {
            true => Err(CliError::FloatOnNpu),
            false => Ok(policy),
        }
    }

    /// Bytes of weights an NPU session may map.
    pub fn session_bytes(&self) -> u64 {
        self.session_bytes.map_or(SESSION_BYTES, |size| size.as_u64())
    }

    /// Where quantised weights are kept.
    pub fn weight_cache(&self) -> WeightCachePlace {
        self.weight_cache.clone().unwrap_or_default()
    }

    /// Number of host threads to use.
    pub fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => usize::from(threads),
            None => thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
