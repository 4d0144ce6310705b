//! What cached weights depend on, as one hash.

use sha2::{Digest, Sha256};

use crate::model_file::{ModelError, ModelFile};

/// Version of the tile layout, of the rounding to Q8_0 and of how checkpoints are read. Raise it with any of them.
pub(super) const LAYOUT: &str = "1";

/// SHA-256 in hex over the checkpoint's fingerprint (every tensor's name, type, shape and stored bytes), how those are
/// read, the layout, and the projections kept in Q8.
///
/// # Errors
/// A checkpoint that cannot be read.
pub(super) fn identity(model: &ModelFile, names: &[&str]) -> Result<String, ModelError> {
    let (fingerprint, decoding) = (model.tensors.fingerprint()?, model.tensors.decoding());
    let mut hash = Sha256::new();
    for part in [fingerprint.as_str(), &decoding, "q8", LAYOUT].into_iter().chain(names.iter().copied()) {
        // Lengths before what they count, so that no two lists give the same stream.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    Ok(hex(&hash.finalize()))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
