//! GGUF files, versions 2 and 3, little-endian.
//!
//! Layout: magic `GGUF`, version u32, tensor count u64, metadata count u64; per metadata entry a
//! key string, a value type u32 and the value; per tensor a name string, dimension count u32, the
//! dimensions u64 (innermost first), element type u32 and offset u64 from the start of the data;
//! padding to `general.alignment` (32 unless given); the data. A string is a u64 length and bytes.

mod config;
mod cursor;
mod dequantise;
mod element;
mod error;
mod header;
mod k_quants;
mod metadata;
mod names;
mod rope_factors;
mod tokenizer;
mod weights;

pub use error::GgufError;

use super::source_file::SourceFile;
use super::{ModelError, ModelFile};
use header::Header;
use std::path::Path;

/// Opens a GGUF file of a supported architecture.
pub(super) fn open(path: &Path) -> Result<ModelFile, ModelError> {
    let file = SourceFile::open(path)?;
    let header = Header::read(&file)?;
    let config = config::read(&file, &header)?;
    let text = tokenizer::read(path, &header.metadata, config.vocab)?;
    let weights = weights::GgufWeights::new(file, &header, &config);
    config.check_tensors(&weights)?;
    Ok(ModelFile { config, tensors: Box::new(weights), text: Some(text), path: path.into() })
}

#[cfg(test)]
mod built;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod real_tests;
#[cfg(test)]
mod tests;
