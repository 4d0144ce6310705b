//! Devices: today the in-process functional model in all its compiled variants.

mod call;
mod compiled;
mod loaded;
mod message;
mod model;
mod pool;
mod product;
mod status;

pub use call::{Call, DdrOperand};
pub use compiled::{CompileError, Compiled};
pub use loaded::LoadedModel;
pub use model::{Counts, DeviceFault, Variant};
pub use pool::ModelPool;
pub use product::{KernelPlan, Product, WeightOperand};
