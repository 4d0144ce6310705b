//! Formats of rows made of blocks, as model files hold quantised weights.

/// One format: blocks of 32 elements along the columns, one after the other.
///
/// An operand in such a format is its file's bytes: rows `row_stride` apart, no padding, columns a multiple of 32. In VTCM rows
/// start at vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockFormat {
    /// Name of the layout in the language.
    pub name: &'static str,
    /// Bytes of a block.
    pub bytes: u32,
    /// The strip call of the device layer behind `dequantise`.
    pub dequantise: &'static str,
}

impl BlockFormat {
    /// ggml's Q8_0: the FP16 scale d, then 32 int8; an element is fp16(q·d).
    pub const Q8_0: BlockFormat = BlockFormat { name: "q8_0_blocks", bytes: 34, dequantise: "pf_dequantise_q8_blocks" };
}
