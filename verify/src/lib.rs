//! Plain reference implementations, property strategies and tolerances.
//!
//! Nothing here is product code: the references are written for reading, in f64, and share no line with what they check.

mod closure;
pub mod cross_check;
pub mod effective;
pub mod family;
pub mod isolated;
pub mod product;
pub mod row_exponent;
pub mod step_check;
pub mod strategy;

pub use cross_check::{CrossCheck, CrossCheckError, assert_kernel, replay};
pub use step_check::assert_step;

/// The guide's examples compile.
#[cfg(doctest)]
#[doc = include_str!("../../docs/kernel-author-guide.md")]
struct KernelAuthorGuide;
