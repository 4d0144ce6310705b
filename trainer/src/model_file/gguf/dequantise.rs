//! Stored blocks to f32.
//!
//! The 32-value types: `d` (and `m`) are FP16. Q4 and Q5 put value `j` in the low half of byte `j`
//! and value `j + 16` in its high half; Q5_0 keeps the fifth bits of all 32 values in one u32.
//! Q4_0: `d·(q − 8)`; Q4_1: `d·q + m`; Q5_0: `d·(q − 16)`; Q8_0: `d·q`, q signed.

use super::element::Element;
use super::k_quants;
use half::{bf16, f16};

/// Dequantises whole blocks: `out.len()` is `bytes.len() / block_bytes · block_values`.
pub(super) fn dequantise(element: Element, bytes: &[u8], out: &mut [f32]) {
    let blocks = bytes.chunks_exact(element.block_bytes()).zip(out.chunks_exact_mut(element.block_values()));
    match element {
        Element::F32 => blocks.for_each(|(bytes, out)| {
            out[0] = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }),
        Element::F16 => blocks.for_each(|(bytes, out)| out[0] = half_at(bytes, 0)),
        Element::BF16 => blocks.for_each(|(bytes, out)| {
            out[0] = bf16::from_le_bytes([bytes[0], bytes[1]]).to_f32();
        }),
        Element::Q4_0 => blocks.for_each(|(bytes, out)| {
            let d = half_at(bytes, 0);
            nibbles(&bytes[2..], out, |q, _| d * (f32::from(q) - 8.0));
        }),
        Element::Q4_1 => blocks.for_each(|(bytes, out)| {
            let (d, m) = (half_at(bytes, 0), half_at(bytes, 2));
            nibbles(&bytes[4..], out, |q, _| d * f32::from(q) + m);
        }),
        Element::Q5_0 => blocks.for_each(|(bytes, out)| {
            let d = half_at(bytes, 0);
            let fifth = u32::from_le_bytes([bytes[2], bytes[3], bytes[4], bytes[5]]);
            nibbles(&bytes[6..], out, |q, index| {
                let high = ((fifth >> index) & 1) as u8;
                d * (f32::from(q | (high << 4)) - 16.0)
            });
        }),
        Element::Q8_0 => blocks.for_each(|(bytes, out)| {
            let d = half_at(bytes, 0);
            for (value, &q) in out.iter_mut().zip(&bytes[2..]) {
                *value = d * f32::from(q as i8);
            }
        }),
        Element::Q4K => blocks.for_each(|(bytes, out)| k_quants::q4_k(bytes, out)),
        Element::Q5K => blocks.for_each(|(bytes, out)| k_quants::q5_k(bytes, out)),
        Element::Q6K => blocks.for_each(|(bytes, out)| k_quants::q6_k(bytes, out)),
    }
}

/// The FP16 number at byte `at`.
pub(super) fn half_at(bytes: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
}

/// 16 bytes to 32 values; `value` gets the four bits and the index of the value.
fn nibbles(packed: &[u8], out: &mut [f32], value: impl Fn(u8, usize) -> f32) {
    let (low, high) = out.split_at_mut(16);
    for (index, &byte) in packed.iter().enumerate() {
        low[index] = value(byte & 15, index);
        high[index] = value(byte >> 4, index + 16);
    }
}
