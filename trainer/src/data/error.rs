//! What can be wrong with a data file, and what to do about it.

use std::path::PathBuf;

/// A data file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// No row in the file.
    #[error("{}: no rows; write one JSON object a line", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}
