//! From a kernel written in the schedule language to the C that runs on the NPU.
//!
//! ```text
//! kernel! { … } ─► Kernel ─► verify ─► Verified ─┬─► plan::solve ─► Plan    (tile sizes and VTCM layout, per shape)
//!                                                └─► emit_c      ─► C text  (once per kernel; tile sizes are plan fields)
//! ```
//!
//! [`Verified`] is the only way into the planner and the back end, so nothing unchecked is ever emitted.

extern crate self as kernel_gen;

/// The page's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/kernel-language.md")]
struct KernelLanguagePage;

mod arch;
pub mod cost;
pub mod ddr;
mod defect;
mod device;
pub mod explain;
mod hash;
pub mod ir;
pub mod library;
mod lower;
pub mod plan;
#[path = "../../kernel-dsl/src/rules/mod.rs"]
mod rules;
pub mod tolerance;
mod verify;

pub use arch::Arch;
pub use defect::Defect;
pub use device::{device_dir, device_files};
pub use hash::{fnv1a_32, fnv1a_64};
pub use ir::Kernel;
pub use kernel_dsl::kernel;
pub use lower::{emit_c, emit_library, emit_step_c};
pub use plan::{Plan, PlanError};
pub use verify::{Diagnostic, Rule, Verified, verify};
