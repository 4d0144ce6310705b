//! The embedding matrix, also the vocabulary head of tied models: held once, in the narrowest form
//! that keeps every value of the file, and widened to f32 a block of rows at a time.

use half::slice::HalfFloatSliceExt;
use half::vec::HalfBitsVecExt;
use half::{bf16, f16};
use rayon::prelude::*;
use std::ops::Range;

/// Weights of one ggml Q8_0 block, which takes 2 bytes of scale and one for each weight.
const Q8_BLOCK: usize = 32;
const Q8_BYTES: usize = 34;

enum Storage {
    F32(Vec<f32>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
    Q8(Vec<u8>),
}

/// Values narrowed at a time.
const PIECE: usize = 4 << 20;

/// Bits of the narrowed values. From the end, giving back what was narrowed: the two forms together never take more than
/// the wide one.
fn narrowed(mut values: Vec<f32>, bits: fn(f32) -> u16) -> Vec<u16> {
    // Zeros of the system, which take no memory before they are written.
    let mut narrow = vec![0u16; values.len()];
    while !values.is_empty() {
        let (start, end) = (values.len().saturating_sub(PIECE), values.len());
        narrow[start..end].par_iter_mut().zip(&values[start..]).for_each(|(to, from)| *to = bits(*from));
        values.truncate(start);
        values.shrink_to_fit();
    }
    narrow
}

/// `[rows, width]` weights.
pub struct EmbeddingTable {
    rows: usize,
    width: usize,
    storage: Storage,
}

impl EmbeddingTable {
    /// From f32 values; kept as BF16 or FP16 if that loses nothing.
    pub fn from_f32(values: Vec<f32>, rows: usize, width: usize) -> Self {
        debug_assert_eq!(values.len(), rows * width);
        let exact = |test: fn(f32) -> f32| values.par_iter().all(|v| test(*v).to_bits() == v.to_bits());
        let storage = if exact(|v| bf16::from_f32(v).to_f32()) {
            Storage::Bf16(narrowed(values, |v| bf16::from_f32(v).to_bits()).reinterpret_into())
        } else if exact(|v| f16::from_f32(v).to_f32()) {
            Storage::F16(narrowed(values, |v| f16::from_f32(v).to_bits()).reinterpret_into())
        } else {
            Storage::F32(values)
        };
        EmbeddingTable { rows, width, storage }
    }

    /// From ggml Q8_0 blocks (34 bytes for 32 weights along a row).
    pub fn from_q8_0(blocks: Vec<u8>, rows: usize, width: usize) -> Self {
        debug_assert_eq!(blocks.len(), rows * width.div_ceil(Q8_BLOCK) * Q8_BYTES);
        EmbeddingTable { rows, width, storage: Storage::Q8(blocks) }
    }

    /// Number of rows (vocabulary size).
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Elements of a row (hidden size).
    pub fn width(&self) -> usize {
        self.width
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match &self.storage {
            Storage::F32(v) => 4 * v.len(),
            Storage::F16(v) => 2 * v.len(),
            Storage::Bf16(v) => 2 * v.len(),
            Storage::Q8(v) => v.len(),
        }
    }

    /// Columns `columns` of a row; they start at a multiple of 32.
    fn row(&self, row: usize, columns: Range<usize>, out: &mut [f32]) {
        let at = row * self.width + columns.start..row * self.width + columns.end;
        match &self.storage {
            Storage::F32(v) => out.copy_from_slice(&v[at]),
            Storage::F16(v) => v[at].convert_to_f32_slice(out),
            // The upper half of an f32, which vector code shifts into place.
            Storage::Bf16(v) => {
                out.iter_mut().zip(&v[at]).for_each(|(o, v)| *o = f32::from_bits(u32::from(v.to_bits()) << 16));
            }
            Storage::Q8(v) => {
                let bytes = self.width.div_ceil(Q8_BLOCK) * Q8_BYTES;
                let blocks = v[row * bytes..][..bytes].chunks_exact(Q8_BYTES).skip(columns.start / Q8_BLOCK);
                for (out, block) in out.chunks_mut(Q8_BLOCK).zip(blocks) {
                    let scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
                    for (out, q) in out.iter_mut().zip(&block[2..]) {
                        *out = f32::from(*q as i8) * scale;
                    }
                }
            }
        }
    }

    /// Columns `columns` of rows `rows` in f32 and the distance of two rows: in place if they are kept so, else widened
    /// into `scratch`. The columns start at a multiple of 32.
    pub(super) fn block<'a>(
        &'a self,
        rows: Range<usize>,
        columns: Range<usize>,
        scratch: &'a mut Vec<f32>,
    ) -> (&'a [f32], usize) {
        if let Storage::F32(v) = &self.storage {
            let first = rows.start * self.width + columns.start;
            return (&v[first..(rows.end - 1) * self.width + columns.end], self.width);
        }
        scratch.resize(rows.len() * columns.len(), 0.0);
        for (row, out) in rows.zip(scratch.chunks_exact_mut(columns.len())) {
            self.row(row, columns.clone(), out);
        }
        (scratch, columns.len())
    }

    /// `out[t] = table[ids[t]]`, `[ids.len(), width]`. Ids must be below [`EmbeddingTable::rows`].
    pub fn gather(&self, ids: impl Iterator<Item = u32>, out: &mut [f32]) {
        for (id, out) in ids.zip(out.chunks_exact_mut(self.width)) {
            self.row(id as usize, 0..self.width, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::dropout::test_values;

    #[test]
    fn narrowing_keeps_every_value() {
        let wide = test_values(1, 6 * 5);
        let half: Vec<f32> = wide.iter().map(|v| f16::from_f32(*v).to_f32()).collect();
        let brain: Vec<f32> = wide.iter().map(|v| bf16::from_f32(*v).to_f32()).collect();
        for (values, bytes) in [(wide, 120), (half, 60), (brain, 60)] {
            let table = EmbeddingTable::from_f32(values.clone(), 6, 5);
            assert_eq!(table.bytes(), bytes);
            let mut out = vec![0.0; 10];
            table.gather([4, 1].into_iter(), &mut out);
            assert_eq!(out, [&values[20..25], &values[5..10]].concat());
            assert_eq!(table.block(2..4, 0..5, &mut Vec::new()), (&values[10..20], 5));
        }
    }

    #[test]
    fn q8_rows_end_in_a_short_block() {
        let mut blocks = Vec::new();
        for block in 0..4u8 {
            blocks.extend(f16::from_f32(0.5 + f32::from(block)).to_le_bytes());
            blocks.extend((0..32u8).map(|i| i.wrapping_sub(16)));
        }
        let table = EmbeddingTable::from_q8_0(blocks, 2, 40);
        let mut out = vec![0.0; 40];
        table.gather(std::iter::once(1), &mut out);
        assert_eq!((out[0], out[31], out[32], out[39]), (-40.0, 37.5, -56.0, -31.5));
    }
}
