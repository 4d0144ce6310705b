//! The architectures this build can train, and everything that follows from a model's configuration alone: its frozen
//! projections with checkpoint names, shapes and kind, its other tensors, the operators the CPU computes, and the
//! precision each projection is kept in. No weight is read, so a plan or a memory estimate needs a `config.json` only
//! ([`crate::model_file::read_config`]).

mod architecture;
mod config;
mod llama;
mod operators;
mod precision;
mod presets;
mod projection;
mod qwen2;
mod qwen3;
mod qwen3_5;
mod tensors;

pub use architecture::{Architecture, Description, NormWeight};
pub use config::{DeltaNet, Llama3Scaling, ModelConfig, Rope};
pub use operators::Operator;
pub use precision::{PrecisionChoice, PrecisionError, PrecisionPolicy};
pub use presets::{UnknownPreset, preset_names};
pub use projection::{Projection, ProjectionKind};

#[cfg(test)]
mod tests;
