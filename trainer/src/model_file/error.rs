//! What can be wrong with a model file, and what to do about it.

use std::path::PathBuf;

/// A model that cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Nothing at that path.
    #[error("{}: there is no such file or folder; give a .gguf file or a Hugging Face folder", path.display())]
    Missing {
        /// The path asked for.
        path: PathBuf,
    },
}
