//! The 256-value types.
//!
//! Q4_K and Q5_K: FP16 `d`, FP16 `dmin`, 12 bytes holding eight 6-bit scales and eight 6-bit
//! minimums, then the quants: sub-block `s` of 32 values is `d·scale[s]·q − dmin·min[s]`.
//! Q6_K: 128 bytes of low nibbles, 64 bytes of high bit pairs, 16 signed scales (one per 16
//! values), FP16 `d`: a value is `d·scale·(q − 32)`.

use super::dequantise::half_at;

/// Scale and minimum of sub-block `index` out of the 12 packed bytes: the first four lie in the low
/// six bits of bytes 0..4 (scales) and 4..8 (minimums); the last four have their low nibbles in
/// bytes 8..12 and their two high bits on top of bytes 0..8.
fn scale_and_min(packed: &[u8], index: usize) -> (f32, f32) {
    let (scale, min) = if index < 4 {
        (packed[index] & 63, packed[index + 4] & 63)
    } else {
        let low = packed[index + 4];
        ((low & 15) | (packed[index - 4] >> 6 << 4), (low >> 4) | (packed[index] >> 6 << 4))
    };
    (f32::from(scale), f32::from(min))
}

/// The quant bytes hold two sub-blocks per 32 bytes, low nibbles first; `fifth` gives the fifth bit
/// (0 or 16) of value `lane` of a sub-block.
fn sub_blocks(bytes: &[u8], quants: &[u8], out: &mut [f32], fifth: impl Fn(usize, usize) -> u8) {
    let (d, dmin) = (half_at(bytes, 0), half_at(bytes, 2));
    for (block, values) in out.chunks_exact_mut(32).enumerate() {
        let (scale, min) = scale_and_min(&bytes[4..16], block);
        let (scale, min) = (d * scale, dmin * min);
        let packed = &quants[block / 2 * 32..][..32];
        let shift = block % 2 * 4;
        for (lane, value) in values.iter_mut().enumerate() {
            let q = (packed[lane] >> shift & 15) + fifth(block, lane);
            *value = scale * f32::from(q) - min;
        }
    }
}

/// One Q4_K block, 144 bytes to 256 values.
pub(super) fn q4_k(bytes: &[u8], out: &mut [f32]) {
    sub_blocks(bytes, &bytes[16..], out, |_, _| 0);
}

/// One Q5_K block, 176 bytes to 256 values: bit `s` of high byte `lane` belongs to sub-block `s`.
pub(super) fn q5_k(bytes: &[u8], out: &mut [f32]) {
    let high = &bytes[16..48];
    sub_blocks(bytes, &bytes[48..], out, |block, lane| (high[lane] >> block & 1) << 4);
}

/// One Q6_K block, 210 bytes to 256 values, in two halves of 128.
pub(super) fn q6_k(bytes: &[u8], out: &mut [f32]) {
    let d = half_at(bytes, 208);
    for (half, values) in out.chunks_exact_mut(128).enumerate() {
        let low = &bytes[half * 64..][..64];
        let high = &bytes[128 + half * 32..][..32];
        let scales = &bytes[192 + half * 8..][..8];
        for (index, value) in values.iter_mut().enumerate() {
            // Quarters 0 and 1 are the low nibbles of the 64 bytes, 2 and 3 the high ones.
            let (quarter, lane) = (index / 32, index % 32);
            let nibble = low[index % 64] >> (index / 64 * 4) & 15;
            let pair = high[lane] >> (quarter * 2) & 3;
            let q = i16::from(nibble | (pair << 4)) - 32;
            *value = d * f32::from(scales[index / 16] as i8) * f32::from(q);
        }
    }
}
