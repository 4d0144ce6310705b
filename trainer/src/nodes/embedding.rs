//! The embedding matrix, also the vocabulary head of tied models: held once, in the narrowest form
//! that keeps every value of the file, and widened to f32 a block of rows at a time.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use rayon::prelude::*;
use std::convert::Infallible;
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

/// The stream's values in a narrow type, `None` as soon as one of them would change.
fn exact<H: Send, E>(
    len: usize,
    stream: &mut impl FnMut(&mut dyn FnMut(&[f32])) -> Result<(), E>,
    narrow: fn(f32) -> H,
    widen: fn(H) -> f32,
) -> Result<Option<Vec<H>>, E> {
    let mut values = Some(Vec::with_capacity(len));
    stream(&mut |piece| {
        if piece.par_iter().any(|v| widen(narrow(*v)).to_bits() != v.to_bits()) {
            values = None;
        }
        if let Some(values) = &mut values {
            values.par_extend(piece.par_iter().map(|v| narrow(*v)));
        }
    })?;
    Ok(values)
}

/// `[rows, width]` weights.
pub struct EmbeddingTable {
    rows: usize,
    width: usize,
    storage: Storage,
}

impl EmbeddingTable {
    /// From f32 values.
    pub fn from_f32(values: &[f32], rows: usize, width: usize) -> Self {
        let whole = |take: &mut dyn FnMut(&[f32])| {
            take(values);
            Ok::<(), Infallible>(())
        };
        match EmbeddingTable::from_stream(rows, width, whole) {
            Ok(table) => table,
            Err(never) => match never {},
        }
    }

    /// From a stream of f32 values that can be had again; kept as BF16 or FP16 if that loses nothing. No f32 copy of a
    /// narrow table exists on the way.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn from_stream<E>(
        rows: usize,
        width: usize,
        mut stream: impl FnMut(&mut dyn FnMut(&[f32])) -> Result<(), E>,
    ) -> Result<Self, E> {
        let storage = if let Some(values) = exact(rows * width, &mut stream, bf16::from_f32, bf16::to_f32)? {
            Storage::Bf16(values)
        } else if let Some(values) = exact(rows * width, &mut stream, f16::from_f32, f16::to_f32)? {
            Storage::F16(values)
        } else {
            let mut values = Vec::with_capacity(rows * width);
            stream(&mut |piece| values.extend_from_slice(piece))?;
            Storage::F32(values)
        };
        Ok(EmbeddingTable { rows, width, storage })
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
        // A cache line between rows: rows as wide as a power of two would fall into the same cache sets.
        let stride = columns.len() + 16;
        scratch.resize(rows.len() * stride, 0.0);
        for (row, out) in rows.zip(scratch.chunks_exact_mut(stride)) {
            self.row(row, columns.clone(), &mut out[..columns.len()]);
        }
        (scratch, stride)
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
            let table = EmbeddingTable::from_f32(&values, 6, 5);
            assert_eq!(table.bytes(), bytes);
            let mut out = vec![0.0; 10];
            table.gather([4, 1].into_iter(), &mut out);
            assert_eq!(out, [&values[20..25], &values[5..10]].concat());
            let mut scratch = Vec::new();
            let (block, stride) = table.block(2..4, 0..5, &mut scratch);
            assert_eq!([&block[..5], &block[stride..][..5]].concat(), values[10..20]);
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
