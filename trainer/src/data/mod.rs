//! Training and evaluation rows.

mod error;
mod sample;

pub use error::DataError;
pub use sample::{Dataset, Sample};

use crate::text::TextModel;
use std::path::Path;

/// Reads a JSONL file: one sample a line, as `messages`, `prompt` + `completion`, or
/// `input_ids` + `labels`.
pub fn load_jsonl(
    path: &Path,
    _text: Option<&TextModel>,
    _vocab: usize,
    _max_tokens: usize,
) -> Result<Dataset, DataError> {
    Err(DataError::Empty { path: path.into() })
}
