//! Products with frozen weights, forward and backward, on the Hexagon NPU.
//!
//! A [`RuntimeBuilder`] takes the weights of a model, keeps **one** resident copy of each ([`Precision`]) and starts a
//! [`Runtime`]: a planner decides for every (projection, [`Direction`], token bucket) whether the device can compute it
//! and checks a few rows against the CPU float path; what is unsupported or fails goes to that path, counted in
//! [`Counters`]. [`Runtime::submit`] hands one request to the service thread and returns a [`Ticket`], so that the
//! caller can work until it needs the result.
//!
//! Rows are scaled by a power of two before they are rounded to FP16; a row whose partial sums leave FP16 is sent again
//! with a smaller scale. Each row's result depends on that row, the weight and the plan's split of the contraction
//! alone: batching, thread count and the speed of the functional model never change a bit.

#[allow(missing_docs, non_camel_case_types, reason = "generated from the C header")]
#[rustfmt::skip]
mod abi;
mod buffer;
mod builder;
mod config;
mod counters;
pub mod cross;
pub mod device;
mod direction;
mod engine;
mod error;
mod faults;
mod float_path;
mod gemm_call;
mod kernels;
mod npu;
mod plan_table;
mod planner;
mod precision;
mod projection;
mod request_buffer;
mod request_log;
mod route;
mod row_scale;
mod runtime;
mod service;
mod session;
mod sessions;
mod shape_planner;
mod startup_check;
mod ticket;
mod weight;

pub use builder::RuntimeBuilder;
pub use config::{DeviceKind, Overflow, RuntimeConfig};
pub use counters::Counters;
pub use direction::Direction;
pub use error::RuntimeError;
pub use faults::{FAULTS_VARIABLE, Faults};
pub use kernel_gen::Arch;
pub use plan_table::{PlanOutcome, PlanRow, PlanTable};
pub use precision::Precision;
pub use projection::ProjectionId;
pub use request_log::RequestSpan;
pub use runtime::Runtime;
pub use sessions::{ResidentWeight, SESSION_BYTES, SessionError, SessionShare, SessionUse, split_sessions};
pub use shape_planner::{PredictedRequest, ShapePlan, ShapePlanner};
pub use ticket::Ticket;
pub use weight::{Q8_BLOCK_BYTES, Q8Tiles, WeightData};

// The planner's limits are those of the wire ABI.
const _: () = assert!(
    abi::PF_ABI_VERSION == kernel_gen::plan::ABI_VERSION
        && abi::PF_MAX_AXES as usize == kernel_gen::plan::MAX_AXES
        && abi::PF_MAX_TUNABLES as usize == kernel_gen::plan::MAX_TUNABLES
        && abi::PF_MAX_WINDOWS as usize == kernel_gen::plan::MAX_WINDOWS
        && abi::PF_MAX_OPERANDS as usize == kernel_gen::plan::MAX_OPERANDS
);
