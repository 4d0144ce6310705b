//! The small files beside the weights, read with a size limit.

use crate::model_file::ModelError;
use serde::de::DeserializeOwned;
use std::io::Read;
use std::path::Path;

/// No configuration or index comes near; a tokenizer of 250 000 tokens takes 20 MB.
const LARGEST: u64 = 256 << 20;

/// The bytes of a file, or `None` when there is no such file.
pub(super) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, ModelError> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ModelError::read(path, error)),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| ModelError::read(path, error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(ModelError::Json {
            path: path.into(),
            problem: format!("larger than {LARGEST} bytes; this is no such file"),
        });
    }
    Ok(Some(bytes))
}

/// A parsed file, or `None` when there is no such file.
pub(super) fn parse<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ModelError> {
    let Some(bytes) = bytes(path)? else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| ModelError::Json {
        path: path.into(),
        problem: format!("{error}; the file is damaged, fetch it again"),
    })
}
