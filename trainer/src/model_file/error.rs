//! What can be wrong with a model file, and what to do about it.

use super::gguf::GgufError;
use crate::text::TextError;
use std::path::{Path, PathBuf};

/// A model that cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Nothing at that path.
    #[error("{}: there is no such file or folder; give a .gguf file or a Hugging Face folder", path.display())]
    Missing {
        /// The path asked for.
        path: PathBuf,
    },
    /// A folder, pipe or device where a file is needed.
    #[error("{}: not a regular file", path.display())]
    NotAFile {
        /// The path asked for.
        path: PathBuf,
    },
    /// A file that does not begin as a GGUF file does.
    #[error("{}: not a GGUF file (it does not begin with `GGUF`); give a .gguf file or the folder that holds config.json", path.display())]
    Unrecognised {
        /// The path asked for.
        path: PathBuf,
    },
    /// The operating system refused a read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file's length is not the one that was checked when it was opened.
    #[error("{}: changed while in use ({before} bytes when opened, {now} now); start again with a file nothing writes to", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// Length in bytes when it was opened.
        before: u64,
        /// Length in bytes now.
        now: u64,
    },
    /// The GGUF structure is damaged or asks for something unsupported.
    #[error("{}: {source}", path.display())]
    Gguf {
        /// The file.
        path: PathBuf,
        /// The rule that was broken.
        source: GgufError,
    },
    /// A `.safetensors` file whose header does not describe its bytes.
    #[error("{}: damaged safetensors file: {problem}; fetch it again", path.display())]
    Safetensors {
        /// The file.
        path: PathBuf,
        /// The rule that was broken.
        problem: String,
    },
    /// A shard index that cannot be followed.
    #[error("{}: {problem}", path.display())]
    ShardIndex {
        /// The index file.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A JSON side file that does not parse.
    #[error("{}: {problem}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and why.
        problem: String,
    },
    /// A network this build cannot train.
    #[error("{}: architecture `{found}` is not supported; supported: {supported}", path.display())]
    Architecture {
        /// The model.
        path: PathBuf,
        /// What the file calls its architecture.
        found: String,
        /// What would work.
        supported: &'static str,
    },
    /// A configuration value that is missing, out of range or unsupported.
    #[error("{}: `{key}`: {problem}", path.display())]
    Config {
        /// The file that holds the value.
        path: PathBuf,
        /// The key as the file spells it.
        key: String,
        /// What is wrong.
        problem: String,
    },
    /// A tensor the network needs and the file does not have.
    #[error("tensor `{name}` is missing; the file is incomplete or not of the architecture its configuration names")]
    TensorMissing {
        /// Canonical name.
        name: String,
    },
    /// A tensor the network has no place for: leaving it out would silently compute another model.
    #[error(
        "tensor `{name}` has no place in a {architecture} model; the file is of another architecture or a variant that is not supported"
    )]
    TensorUnexpected {
        /// Canonical name, or the file's own if it has none.
        name: String,
        /// The architecture it was held against.
        architecture: &'static str,
    },
    /// Two stored tensors that are one tensor of the text model.
    #[error(
        "tensors `{first}` and `{second}` are the same part of the model; remove one of the two layouts from the folder"
    )]
    TensorTwice {
        /// One name in the file.
        first: String,
        /// The other.
        second: String,
    },
    /// A tensor whose shape does not follow from the configuration.
    #[error("tensor `{name}` should have shape {expected:?} by the configuration, the file has {found:?}")]
    TensorShape {
        /// Canonical name.
        name: String,
        /// Shape by the configuration.
        expected: Vec<usize>,
        /// Shape in the file.
        found: Vec<usize>,
    },
    /// A tensor stored in a type that cannot be read.
    #[error("tensor `{name}` is stored as {found}; supported: {supported}")]
    TensorType {
        /// Canonical name.
        name: String,
        /// Type in the file.
        found: String,
        /// What would work.
        supported: &'static str,
    },
    /// NaN or infinity among the weights.
    #[error("tensor `{name}` holds {value} at index {index}; the weights are damaged, fetch the model again")]
    NotFinite {
        /// Canonical name.
        name: String,
        /// Flat row-major index of the first such value.
        index: usize,
        /// The value.
        value: f32,
    },
    /// More token ids than embedding rows, or ids without a token.
    #[error("{}: the tokenizer has {tokens} tokens but the embedding has {rows} rows; tokenizer and weights are of different models", path.display())]
    VocabularySize {
        /// The model.
        path: PathBuf,
        /// Ids the tokenizer knows.
        tokens: usize,
        /// Rows of the embedding.
        rows: usize,
    },
    /// A special token id beyond the vocabulary.
    #[error("{}: `{key}` is {id}, but the vocabulary has {size} tokens", path.display())]
    TokenId {
        /// The file that names the id.
        path: PathBuf,
        /// The key as the file spells it.
        key: String,
        /// The id.
        id: u64,
        /// Number of tokens.
        size: usize,
    },
    /// The tokenizer or chat template cannot be used.
    #[error("{}: {source}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: TextError,
    },
}

impl ModelError {
    pub(crate) fn read(path: &Path, source: std::io::Error) -> ModelError {
        ModelError::Read { path: path.into(), source }
    }

    pub(crate) fn config(path: &Path, key: &str, problem: impl Into<String>) -> ModelError {
        ModelError::Config { path: path.into(), key: key.into(), problem: problem.into() }
    }
}
