//! Models with random weights at real shapes, as Hugging Face folders: to measure speed and memory without fetching
//! anything. Values come from a counter, so the same seed gives the same bytes on every machine; they are written as they
//! are made, a block at a time.

mod config_json;
mod error;
mod random;
mod shards;
mod tensors;
mod tokenizer;
mod write;

pub use error::SynthError;
pub use tensors::FloatType;
pub use write::{DEFAULT_SHARD_BYTES, Synth, Synthesized, write};

#[cfg(test)]
mod small;
#[cfg(test)]
pub(crate) use small::small;
#[cfg(test)]
mod tests;
