//! Model files: one door, [`ModelFile::open`], for a GGUF file and for a Hugging Face folder.
//!
//! Whatever the file calls its tensors and however it stores them, the rest of the trainer sees
//! Hugging Face's canonical names (`model.layers.0.self_attn.q_proj.weight`), row-major
//! `[out, in]` shapes and half-split rope.

mod config_check;
mod error;
mod fingerprint;
mod finite;
mod folder;
mod gguf;
mod layout;
mod source_file;
mod tensor_source;

pub use error::ModelError;
pub(crate) use folder::SafetensorsFile;
pub use folder::{parse_config, read_config};
pub use gguf::GgufError;
pub use tensor_source::{STREAM_BYTES, TensorSource};

use crate::registry::ModelConfig;
use crate::text::TextModel;
use std::path::{Path, PathBuf};

/// An opened base model: what it is, its weights, and its text side if it has one.
pub struct ModelFile {
    /// Sizes and constants of the network, validated.
    pub config: ModelConfig,
    /// The frozen weights, read one tensor at a time.
    pub tensors: Box<dyn TensorSource>,
    /// Tokenizer and chat template; `None` for a folder without `tokenizer.json`, which is enough
    /// for pre-tokenised data.
    pub text: Option<TextModel>,
    /// Where the model was opened from.
    pub path: PathBuf,
}

impl ModelFile {
    /// Opens a `.gguf` file or a Hugging Face folder and checks everything that can be checked
    /// without reading the weights: sizes, names, shapes, types, token ids.
    pub fn open(path: &Path) -> Result<ModelFile, ModelError> {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => folder::open(path),
            Ok(metadata) if !metadata.is_file() => Err(ModelError::NotAFile { path: path.into() }),
            Ok(_) => gguf::open(path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(ModelError::Missing { path: path.into() })
            }
            Err(error) => Err(ModelError::read(path, error)),
        }
    }
}
