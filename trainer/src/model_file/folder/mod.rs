//! Hugging Face model folders: `config.json`, one or several `.safetensors` files, and, if there,
//! `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja`.

mod config;
mod names;
mod raw_config;
mod safetensors_file;
mod shards;
mod side_file;
mod text_config;
mod tokenizer;
mod weights;

pub use config::{parse_config, read_config};
pub(crate) use safetensors_file::SafetensorsFile;

use super::{ModelError, ModelFile};
use std::path::Path;

/// Opens a folder of a supported architecture.
pub(super) fn open(path: &Path) -> Result<ModelFile, ModelError> {
    let (config, tokens) = config::read(path)?;
    let weights = weights::FolderWeights::open(path, &config)?;
    config.check_tensors(&weights)?;
    let text = tokenizer::read(path, &config, &tokens)?;
    Ok(ModelFile { config, tensors: Box::new(weights), text, path: path.into() })
}

#[cfg(test)]
mod built;
#[cfg(test)]
mod config_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
