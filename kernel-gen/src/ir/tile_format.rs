//! Formats of packed 32×32 tiles, which become FP16 tiles on their way to HMX.

use super::VECTOR_BYTES;

/// One format: data, so that a kernel author may add another.
///
/// An operand in such a format is a grid of 32×32 tiles, `bytes` each, those of one row of the grid contiguous, zero
/// padded. In VTCM tiles lie `stride` bytes apart, so that each starts at a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileFormat {
    /// Name of the layout in the language.
    pub name: &'static str,
    /// Bytes of a tile in DDR.
    pub bytes: u32,
    /// Distance of two tiles in VTCM: a multiple of a vector, at least `bytes`.
    pub stride: u32,
    /// The strip call of the device layer behind `dequantise`; without one an author's step converts the tiles.
    pub dequantise: Option<&'static str>,
}

impl TileFormat {
    /// Q8_0: 1024 int8, element (n, k) at byte `(k>>1)*64 + 2n + (k&1)`, then the FP16 scale of each of the 32 rows n.
    pub const Q8_0: TileFormat = TileFormat::new("q8_0_tiles", 1088, Some("pf_dequantise_q8"));

    /// Q4_0: 512 bytes of nibbles, byte `(k>>1)*32 + n` holds row n of column k in its low half and of k + 1 in its high
    /// half, then the FP16 scale of each of the 32 rows n. An element is (q − 8)·d.
    pub const Q4_0: TileFormat = TileFormat::new("q4_0_tiles", 576, Some("pf_dequantise_q4"));

    /// A format whose tiles lie in VTCM as close as vectors allow.
    pub const fn new(name: &'static str, bytes: u32, dequantise: Option<&'static str>) -> TileFormat {
        let stride = bytes.saturating_add(VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
        TileFormat { name, bytes, stride, dequantise }
    }
}
