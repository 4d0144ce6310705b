//! What the benches measure: products at the paper's shapes, on the functional model and on a plain f32 GEMM; the trainer's
//! step on the CPU beside the same step from separate operators; and whole runs of the `permafrost` program.

mod baseline;
pub mod composition;
mod fusion;
mod median;
mod product;
mod training;

pub use baseline::Baseline;
pub use fusion::{Deviation, Fusion, GRADIENT_TOLERANCE, LOSS_TOLERANCE};
pub use median::median;
pub use product::{BenchProduct, SHAPES, Shape};
pub use training::{Trained, Training};
