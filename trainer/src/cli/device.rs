//! The flags that choose where the frozen projections run.

use std::thread;

use clap::{Args, ValueEnum};
use hexagon_runtime::{DeviceKind, Precision};

use super::error::CliError;
use crate::registry::PrecisionPolicy;

/// Where and how frozen projections run.
#[derive(Args, Clone, Debug)]
pub(super) struct DeviceArgs {
    /// Where frozen projections run: the functional model of the NPU, or the CPU.
    #[arg(long, value_enum, default_value_t = Device::Model)]
    pub device: Device,
    /// How their weights are kept. auto is f32 on the CPU device; on the NPU f16 for recurrent layers and q8 elsewhere.
    #[arg(long, value_enum, default_value_t = WeightPrecision::Auto)]
    pub precision: WeightPrecision,
    /// Host threads, up to 256; all processors by default. The count can change the last bits of CPU sums, never those of the NPU.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
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

/// How the weights of frozen projections are kept.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum WeightPrecision {
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
    /// Blocks of 32 eight-bit integers with one scale.
    Q8,
    /// Chosen by the device and the kind of layer.
    Auto,
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
        match (self.precision, self.device) {
            (WeightPrecision::F32, Device::Cpu) => Ok(PrecisionPolicy::uniform(Precision::F32)),
            (WeightPrecision::F32, _) => Err(CliError::FloatOnNpu),
            (WeightPrecision::F16, _) => Ok(PrecisionPolicy::uniform(Precision::F16)),
            (WeightPrecision::Q8, _) => Ok(PrecisionPolicy::uniform(Precision::Q8)),
            (WeightPrecision::Auto, Device::Cpu) => Ok(PrecisionPolicy::uniform(Precision::F32)),
            (WeightPrecision::Auto, _) => Ok(PrecisionPolicy::NPU),
        }
    }

    /// Number of host threads to use.
    pub fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => usize::from(threads),
            None => thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
