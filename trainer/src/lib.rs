//! LoRA fine-tuning whose frozen products run on the Hexagon NPU.

pub mod adapter;
pub mod architecture;
pub mod cli;
pub mod data;
pub mod demo;
pub mod eval;
pub mod flops;
pub mod memory;
pub mod model_file;
pub mod nodes;
pub mod optimizer;
pub mod plan;
pub mod registry;
pub mod synth;
pub mod text;
pub mod timeline;
pub mod train;
pub mod weight_cache;
