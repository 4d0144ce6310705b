//! What the benches measure: products at the paper's shapes, on the functional model and on a plain f32 GEMM, and whole runs
//! of the `permafrost` program.

mod baseline;
mod product;
mod training;

pub use baseline::Baseline;
pub use product::{BenchProduct, SHAPES, Shape};
pub use training::{Trained, Training};
