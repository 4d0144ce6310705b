//! Why a model cannot be made.

use std::io;
use std::path::PathBuf;

use crate::text::TextError;

/// A folder that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SynthError {
    /// More layers than the model has, or none.
    #[error("the model has {available} layers, {asked} are asked for: give --layers from 1 to {available}")]
    Layers {
        /// Layers asked for.
        asked: usize,
        /// Layers of the model.
        available: usize,
    },
    /// Something is there already.
    #[error("{} is not empty: give a new folder, or remove it first", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A tokenizer with more tokens than the model has embeddings for.
    #[error("the tiny tokenizer has {tokens} tokens, the model's vocabulary only {vocab}: leave --tokenizer out")]
    Vocabulary {
        /// Tokens of the tokenizer.
        tokens: usize,
        /// Rows of the embedding.
        vocab: usize,
    },
    /// The tokenizer could not be built.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The operating system refused.
    #[error("{}: {source}; {bytes} bytes are written in all: check the free space and remove the unfinished folder", path.display())]
    Io {
        /// Folder or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// Bytes of all weights.
        bytes: u64,
    },
}
