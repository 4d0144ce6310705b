//! The identity of a set of weights.

use sha2::{Digest, Sha256};

/// Running SHA-256 over tensors; names, types and shapes are part of it, so that equal bytes under
/// other names are another model.
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    pub(crate) fn new() -> Fingerprint {
        Fingerprint(Sha256::new())
    }

    /// Begins a tensor. Lengths are written before what they count, so that no two lists of
    /// tensors give the same stream.
    pub(crate) fn tensor(&mut self, name: &str, element: &str, shape: &[usize]) {
        for text in [name, element] {
            self.0.update((text.len() as u64).to_le_bytes());
            self.0.update(text);
        }
        self.0.update((shape.len() as u64).to_le_bytes());
        for &extent in shape {
            self.0.update((extent as u64).to_le_bytes());
        }
    }

    /// The next stored bytes of the tensor begun last.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest in lower-case hex.
    pub(crate) fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
