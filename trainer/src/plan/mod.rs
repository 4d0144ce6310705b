//! What a training step on the NPU needs, from a model's configuration alone: projections and their bytes, sessions,
//! floating-point operations, tiles and predicted times, activations, adapters, peak memory. `permafrost plan` prints it.

mod adapters;
mod memory;
mod products;
mod report;
mod resident;
mod sessions;
mod text;

pub use adapters::Adapters;
pub use memory::{ActivationPlan, LayerKindBytes};
pub use products::{BucketPlan, DirectionPlan, NpuSeconds, Product, RequestPlan};
pub use report::{NpuTime, PlanFailure, PlanRequest, Report};
pub use resident::Resident;
pub use sessions::{Session, Sessions};

#[cfg(test)]
mod tests;
