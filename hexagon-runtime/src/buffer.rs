//! Byte buffers on 128-byte boundaries, the alignment of an HVX vector and of every DMA operand.

use bytemuck::{Pod, Zeroable};

/// Bytes of one HVX vector.
pub(crate) const VECTOR_BYTES: usize = 128;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(128))]
struct Line([u8; VECTOR_BYTES]);

/// A zeroed, 128-byte aligned buffer that only grows.
#[derive(Default)]
pub(crate) struct AlignedBytes {
    lines: Vec<Line>,
}

impl AlignedBytes {
    /// At least `bytes` zero bytes.
    pub fn zeroed(bytes: usize) -> Self {
        AlignedBytes { lines: vec![Line::zeroed(); bytes.div_ceil(VECTOR_BYTES)] }
    }

    /// Grows to at least `bytes`; never shrinks, so a reused buffer stops allocating.
    pub fn reserve(&mut self, bytes: usize) {
        let lines = bytes.div_ceil(VECTOR_BYTES);
        if lines > self.lines.len() {
            self.lines.resize(lines, Line::zeroed());
        }
    }

    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.lines)
    }

    pub fn as_slice<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.lines)
    }

    pub fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned_and_keeps_its_size() {
        let mut buffer = AlignedBytes::zeroed(130);
        assert_eq!(buffer.bytes().len(), 256);
        buffer.reserve(1000);
        buffer.reserve(10);
        assert_eq!(buffer.bytes().len(), 1024);
        assert_eq!(buffer.bytes().as_ptr() as usize % VECTOR_BYTES, 0);
        assert!(buffer.as_slice::<f32>().iter().all(|x| *x == 0.0));
    }
}
