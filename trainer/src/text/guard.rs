//! A fence around the tokenizer crate, which panics on some tokenizer files.

use super::TextError;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; a panic or an error inside becomes a [`TextError`].
///
/// Unwind safety: `work` owns what it builds, or only reads through `&`, and whatever it was building is
/// dropped when it panics.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, tokenizers::Error>) -> Result<T, TextError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(TextError::Tokenizer { problem: error.to_string() }),
        Err(panic) => {
            let problem = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("it panicked without a message");
            Err(TextError::Tokenizer { problem: format!("the tokenizer failed inside: {problem}") })
        }
    }
}
