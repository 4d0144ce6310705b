//! What the benches measure: products at the paper's shapes, on the functional model and on a plain f32 GEMM.

mod baseline;
mod product;

pub use baseline::Baseline;
pub use product::{BenchProduct, SHAPES, Shape};
