//! The one view of the weights that the trainer has.

use super::ModelError;
use super::source_file::CHUNK_BYTES;

/// Bytes a piece of a stream takes as it is stored and in f32: the densest type has 4.5 bits a value.
pub const STREAM_BYTES: u64 = 9 * CHUNK_BYTES as u64;

/// Read access to frozen weights under Hugging Face's canonical names.
///
/// Tensors are row-major with the shape `[out, in]` (or `[n]`). Nothing is cached: each call reads
/// from the file, so the caller decides what stays in memory.
pub trait TensorSource: Send + Sync {
    /// Shape of a tensor, outermost dimension first; `None` when the model has no such tensor.
    fn shape(&self, name: &str) -> Option<Vec<usize>>;

    /// All values as f32, dequantised if need be, rotary rows in half-split order.
    ///
    /// Errors: the tensor is missing, the file changed or cannot be read, or a value is NaN or
    /// infinite (the error names the tensor and the index).
    fn read_f32(&self, name: &str) -> Result<Vec<f32>, ModelError>;

    /// The values of [`TensorSource::read_f32`] piece by piece, in order. No more than a piece is held, [`STREAM_BYTES`] at
    /// most, unless rows have to be put into another order.
    ///
    /// Errors: as for reading them at once; pieces before a bad one have been taken.
    fn stream_f32(&self, name: &str, take: &mut dyn FnMut(&[f32])) -> Result<(), ModelError>;

    /// The ggml Q8_0 blocks (34 bytes: FP16 scale, 32 int8), rows of `ceil(in/32)` blocks,
    /// half-split order; `Ok(None)` when the tensor is stored in another type.
    fn q8_0_blocks(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError>;

    /// How stored bytes become values, in words: two sources with equal fingerprints and equal words have equal values.
    fn decoding(&self) -> String;

    /// Whether a file was written to since it was opened.
    fn touched(&self) -> bool;

    /// Canonical names of all tensors, sorted.
    fn names(&self) -> Vec<String>;

    /// SHA-256 in hex over every tensor's name, type, shape and stored bytes, in name order.
    /// Streams the file once and is remembered.
    fn fingerprint(&self) -> Result<String, ModelError>;
}
