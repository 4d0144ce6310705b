use std::ops::Range;

use half::f16;
use rayon::prelude::*;

use super::{Q8_BLOCK, Q8_BLOCK_BYTES, TILE, TooLarge};
use crate::buffer::AlignedBytes;
use crate::device::WeightOperand;

/// 32 × 32 int8, then 32 FP16 scales, one per output feature.
const TILE_BYTES: usize = 1088;
/// int8 part of a tile.
const TILE_QUANTS: usize = TILE * TILE;
/// The smallest magnitude that rounds beyond the largest FP16.
const FP16_OVERFLOW: f32 = 65_520.0;

/// Q8_0 in 32×32 tiles, contiguous along the input, padded with zero tiles.
///
/// Inside a tile, weight (n, k) is the int8 at `(k>>1)*64 + 2*n + (k&1)`; scale n is the FP16 at `1024 + 2*n`. Tiles of one
/// band of 32 output features follow each other along the input, bands along the output.
pub struct Q8Tiles {
    out: usize,
    in_: usize,
    row_tiles: usize,
    column_tiles: usize,
    tiles: AlignedBytes,
}

/// One Q8_0 block: 32 weights along the input.
struct Block {
    d: f16,
    q: [i8; Q8_BLOCK],
}

impl Block {
    /// ggml's rule: d = max|x| / 127, q = round(x / d) with d still in f32, halves away from zero.
    fn quantise(values: &[f32]) -> Block {
        let largest = values.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        let d = largest / 127.0;
        let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
        let mut q = [0i8; Q8_BLOCK];
        for (q, x) in q.iter_mut().zip(values) {
            // A denormal d has an infinite inverse and q means nothing; its scale rounds to FP16 zero anyway.
            *q = round_half_away(x * inverse);
        }
        Block { d: f16::from_f32(d), q }
    }

    fn read(bytes: &[u8]) -> Block {
        let mut q = [0i8; Q8_BLOCK];
        q.copy_from_slice(bytemuck::cast_slice(&bytes[2..Q8_BLOCK_BYTES]));
        Block { d: f16::from_le_bytes([bytes[0], bytes[1]]), q }
    }

    /// Column of the first weight, below `width`, whose effective value is not a finite FP16.
    fn overflow(&self, width: usize) -> Option<usize> {
        let d = self.d.to_f32();
        if d.abs() * 128.0 < FP16_OVERFLOW {
            return None;
        }
        self.q[..width].iter().position(|q| (f32::from(*q) * d).abs() >= FP16_OVERFLOW)
    }
}

/// `x.round() as i8` for |x| < 2^22: adding the largest value below 0.5 and cutting off is what a library call does, but
/// runs on whole vectors.
fn round_half_away(x: f32) -> i8 {
    (x + 0.5f32.next_down().copysign(x)) as i32 as i8
}

/// Scale of one block as stored.
pub(super) fn block_scale(block: &[u8]) -> f32 {
    f16::from_le_bytes([block[0], block[1]]).to_f32()
}

/// q·d in f32, ggml's own dequantisation.
pub(super) fn dequantise_blocks(blocks: &[u8], out: usize, in_: usize) -> Vec<f32> {
    let row_bytes = in_.div_ceil(Q8_BLOCK) * Q8_BLOCK_BYTES;
    let mut values = vec![0.0f32; out * in_];
    values.par_chunks_mut(in_).zip(blocks.par_chunks(row_bytes)).for_each(|(to, from)| {
        for (to, from) in to.chunks_mut(Q8_BLOCK).zip(from.chunks_exact(Q8_BLOCK_BYTES)) {
            let block = Block::read(from);
            let d = block.d.to_f32();
            for (to, q) in to.iter_mut().zip(block.q) {
                *to = f32::from(q) * d;
            }
        }
    });
    values
}

impl Q8Tiles {
    /// Quantises row-major f32.
    ///
    /// # Errors
    /// The first effective weight beyond FP16.
    pub(crate) fn quantise(values: &[f32], out: usize, in_: usize) -> Result<Q8Tiles, TooLarge> {
        Self::fill(out, in_, |row, first, width| {
            let start = row * in_ + first;
            Block::quantise(&values[start..start + width])
        })
    }

    /// Takes ggml blocks over unchanged.
    ///
    /// # Errors
    /// The first effective weight beyond FP16.
    pub(crate) fn repack(blocks: &[u8], out: usize, in_: usize) -> Result<Q8Tiles, TooLarge> {
        let row_blocks = in_.div_ceil(Q8_BLOCK);
        Self::fill(out, in_, |row, first, width| {
            let start = (row * row_blocks + first / Q8_BLOCK) * Q8_BLOCK_BYTES;
            let mut block = Block::read(&blocks[start..start + Q8_BLOCK_BYTES]);
            // Whatever a file keeps in the padding of a short last block must not enter a sum.
            block.q[width..].fill(0);
            block
        })
    }

    /// Bytes of a weight of `out` × `in_`, zero padding to whole tiles included.
    pub fn byte_len(out: usize, in_: usize) -> usize {
        out.div_ceil(TILE) * in_.div_ceil(TILE) * TILE_BYTES
    }

    /// Tiles made earlier and kept elsewhere: `read` fills all [`Q8Tiles::byte_len`] bytes. `None` if they hold a scale that is
    /// no number or an effective weight beyond FP16, which no weight made here has.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn read<E>(
        out: usize,
        in_: usize,
        read: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Option<Q8Tiles>, E> {
        let bytes = Self::byte_len(out, in_);
        let mut tiles = AlignedBytes::zeroed(bytes);
        let filled = &mut tiles.as_mut_slice::<u8>()[..bytes];
        read(filled)?;
        let sound = filled.par_chunks_exact(TILE_BYTES).all(fits_fp16);
        Ok(sound.then(|| Q8Tiles { out, in_, row_tiles: out.div_ceil(TILE), column_tiles: in_.div_ceil(TILE), tiles }))
    }

    /// Output and input features.
    pub fn shape(&self) -> (usize, usize) {
        (self.out, self.in_)
    }

    fn fill(out: usize, in_: usize, block: impl Fn(usize, usize, usize) -> Block + Sync) -> Result<Q8Tiles, TooLarge> {
        let row_tiles = out.div_ceil(TILE);
        let column_tiles = in_.div_ceil(TILE);
        let mut tiles = AlignedBytes::zeroed(row_tiles * column_tiles * TILE_BYTES);
        let bytes = &mut tiles.as_mut_slice::<u8>()[..row_tiles * column_tiles * TILE_BYTES];
        bytes.par_chunks_mut(column_tiles * TILE_BYTES).enumerate().try_for_each(|(band, tiles)| {
            for (column, tile) in tiles.chunks_exact_mut(TILE_BYTES).enumerate() {
                let first = column * TILE;
                let width = TILE.min(in_ - first);
                let (quants, scales) = tile.split_at_mut(TILE_QUANTS);
                for n in 0..TILE.min(out - band * TILE) {
                    let row = band * TILE + n;
                    let block = block(row, first, width);
                    if let Some(k) = block.overflow(width) {
                        let value = f32::from(block.q[k]) * block.d.to_f32();
                        return Err(TooLarge { row, column: first + k, value });
                    }
                    for (k, q) in block.q.iter().enumerate() {
                        quants[(k >> 1) * 64 + 2 * n + (k & 1)] = q.cast_unsigned();
                    }
                    scales[2 * n..2 * n + 2].copy_from_slice(&block.d.to_le_bytes());
                }
            }
            Ok(())
        })?;
        Ok(Q8Tiles { out, in_, row_tiles, column_tiles, tiles })
    }

    pub(crate) fn dequantise(&self, rows: Range<usize>, columns: Range<usize>, to: &mut [f32], stride: usize) {
        debug_assert!(rows.start.is_multiple_of(TILE) && columns.start.is_multiple_of(TILE));
        let band_bytes = self.column_tiles * TILE_BYTES;
        let bands = self.bytes()[rows.start / TILE * band_bytes..].chunks_exact(band_bytes);
        let mut values = [0.0f32; TILE_QUANTS];
        for (to, band) in to.chunks_mut(TILE * stride).zip(bands) {
            let tiles = band.chunks_exact(TILE_BYTES).skip(columns.start / TILE);
            for (first, tile) in (0..columns.len()).step_by(TILE).zip(tiles) {
                dequantise_tile(tile, &mut values);
                let width = TILE.min(columns.len() - first);
                for (n, row) in to.chunks_mut(stride).enumerate() {
                    for (pair, to) in row[first..first + width].chunks_mut(2).enumerate() {
                        let from = pair * 64 + 2 * n;
                        to.copy_from_slice(&values[from..from + to.len()]);
                    }
                }
            }
        }
    }

    /// The weight as the kernels read it.
    pub(crate) fn operand(&self) -> WeightOperand<'_> {
        // Extents fit u32: the planner has solved for them.
        WeightOperand {
            bytes: self.bytes(),
            rows: (self.row_tiles * TILE) as u32,
            cols: (self.column_tiles * TILE) as u32,
            row_stride: (self.column_tiles * TILE_BYTES) as u32,
        }
    }

    /// All tiles.
    pub fn bytes(&self) -> &[u8] {
        &self.tiles.bytes()[..self.row_tiles * self.column_tiles * TILE_BYTES]
    }
}

/// Whether every effective weight of a tile is a finite FP16.
fn fits_fp16(tile: &[u8]) -> bool {
    let (quants, scales) = tile.split_at(TILE_QUANTS);
    scales.chunks_exact(2).enumerate().all(|(n, d)| {
        let d = f16::from_le_bytes([d[0], d[1]]).to_f32();
        let row = || (0..TILE_QUANTS).step_by(2 * TILE).flat_map(|line| [line + 2 * n, line + 2 * n + 1]);
        d.abs() * 128.0 < FP16_OVERFLOW
            || d.is_finite() && row().all(|at| (f32::from(quants[at].cast_signed()) * d).abs() < FP16_OVERFLOW)
    })
}

/// Effective weights fp16(q·d) of one tile, in the order of its int8.
fn dequantise_tile(tile: &[u8], values: &mut [f32; TILE_QUANTS]) {
    let (quants, scales) = tile.split_at(TILE_QUANTS);
    // One scale per int8 of a 64-wide line: 2n and 2n+1 belong to output feature n.
    let mut doubled = [0.0f32; 2 * TILE];
    for (pair, d) in doubled.chunks_exact_mut(2).zip(scales.chunks_exact(2)) {
        pair.fill(f16::from_le_bytes([d[0], d[1]]).to_f32());
    }
    for (line, quants) in values.chunks_exact_mut(2 * TILE).zip(quants.chunks_exact(2 * TILE)) {
        for ((value, q), d) in line.iter_mut().zip(quants).zip(&doubled) {
            // The product is exact: 8 bits times 11 bits fit the 24 of f32.
            *value = round_to_fp16(f32::from(q.cast_signed()) * d);
        }
    }
}

/// The FP16 value nearest to `x` (ties to even), as f32, for magnitudes below 65520. Branch-free, so that it runs on whole
/// vectors of any instruction set.
fn round_to_fp16(x: f32) -> f32 {
    let sign = x.to_bits() & 0x8000_0000;
    let magnitude = x.to_bits() & 0x7fff_ffff;
    // Half a unit of the 10-bit mantissa, less one when the kept mantissa is even.
    let normal = (magnitude + 0xfff + (magnitude >> 13 & 1)) & !0x1fff;
    // Below 2^-14 FP16 counts in 2^-24, the spacing of f32 at 0.5: one addition rounds to it.
    let denormal = ((f32::from_bits(magnitude) + 0.5) - 0.5).to_bits();
    let smallest_normal = 0x3880_0000;
    f32::from_bits(sign | if magnitude < smallest_normal { denormal } else { normal })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(len: usize) -> Vec<f32> {
        (0..len).map(|i| ((i * 37 % 101) as f32 - 50.0) * 0.013).collect()
    }

    #[test]
    fn follows_the_ggml_rule() {
        // max 2.54 gives d = 0.02 in f32; quotients use that d, not the rounded one.
        let mut values = [0.0f32; 32];
        values[0] = -2.54;
        values[1] = 0.03;
        values[2] = -0.05;
        values[3] = 0.029;
        let block = Block::quantise(&values);
        let d = 2.54f32 / 127.0;
        assert_eq!(block.d, f16::from_f32(d));
        let quotient = |x: f32| (x * (1.0 / d)).round() as i8;
        assert_eq!(block.q[..4], [-127, quotient(0.03), quotient(-0.05), quotient(0.029)]);
        assert!(block.q[4..].iter().all(|q| *q == 0));
    }

    #[test]
    fn rounds_halves_away_from_zero() {
        let mut values = [0.0f32; 32];
        values[..4].copy_from_slice(&[127.0, 2.5, -2.5, 0.5]);
        assert_eq!(Block::quantise(&values).q[..4], [127, 3, -3, 1]);
    }

    #[test]
    fn rounding_equals_the_library_s() {
        for q in -127..=127 {
            for x in
                [q as f32, q as f32 + 0.5, (q as f32 + 0.5).next_down(), (q as f32 + 0.5).next_up(), q as f32 * 0.37]
            {
                if x.abs() <= 127.0 {
                    assert_eq!(round_half_away(x), x.round() as i8, "{x}");
                }
            }
        }
        for d in 0..0x7c00u16 {
            let d = f16::from_bits(d).to_f32();
            for q in -128i8..=127 {
                let x = f32::from(q) * d;
                if x.abs() < FP16_OVERFLOW {
                    assert_eq!(round_to_fp16(x).to_bits(), f16::from_f32(x).to_f32().to_bits(), "{q} · {d}");
                }
            }
        }
    }

    #[test]
    fn a_zero_block_and_a_denormal_block_are_zero() {
        assert_eq!(Block::quantise(&[0.0; 32]).d, f16::ZERO);
        let block = Block::quantise(&[1e-44; 32]);
        assert_eq!(block.d, f16::ZERO);
    }

    #[test]
    fn tile_layout_is_the_documented_one() {
        let (out, in_) = (40, 70);
        let values = ramp(out * in_);
        let weight = Q8Tiles::quantise(&values, out, in_).unwrap();
        let operand = weight.operand();
        assert_eq!((operand.rows, operand.cols, operand.row_stride), (64, 96, 3 * 1088));
        for row in 0..64 {
            for column in 0..96 {
                let tile = &weight.bytes()[((row / 32) * 3 + column / 32) * 1088..][..1088];
                let (n, k) = (row % 32, column % 32);
                let q = tile[(k >> 1) * 64 + 2 * n + (k & 1)].cast_signed();
                let d = f16::from_le_bytes([tile[1024 + 2 * n], tile[1025 + 2 * n]]);
                let first = column / 32 * 32;
                if row < out && first < in_ {
                    let block = Block::quantise(&values[row * in_ + first..row * in_ + (first + 32).min(in_)]);
                    assert_eq!((q, d), (block.q[k], block.d), "row {row} column {column}");
                } else {
                    assert_eq!((q, d), (0, f16::ZERO));
                }
            }
        }
    }

    #[test]
    fn repacked_blocks_equal_quantised_values() {
        let (out, in_) = (33, 45);
        let values = ramp(out * in_);
        let mut blocks = Vec::new();
        for row in values.chunks(in_) {
            for chunk in row.chunks(Q8_BLOCK) {
                let block = Block::quantise(chunk);
                blocks.extend_from_slice(&block.d.to_le_bytes());
                blocks.extend(block.q.iter().map(|q| q.cast_unsigned()));
            }
        }
        // Garbage in the padding of the last block is dropped.
        let end = blocks.len();
        blocks[end - 1] = 99;
        let repacked = Q8Tiles::repack(&blocks, out, in_).unwrap();
        let quantised = Q8Tiles::quantise(&values, out, in_).unwrap();
        assert_eq!(repacked.bytes(), quantised.bytes());
    }

    #[test]
    fn dequantises_to_fp16_of_the_product() {
        let (out, in_) = (70, 45);
        let values = ramp(out * in_);
        let weight = Q8Tiles::quantise(&values, out, in_).unwrap();
        let mut all = vec![f32::NAN; out * in_];
        weight.dequantise(0..out, 0..in_, &mut all, in_);
        for row in 0..out {
            for (block, chunk) in values[row * in_..(row + 1) * in_].chunks(32).enumerate() {
                let quantised = Block::quantise(chunk);
                for k in 0..chunk.len() {
                    let expected = f16::from_f32(f32::from(quantised.q[k]) * quantised.d.to_f32()).to_f32();
                    assert_eq!(all[row * in_ + block * 32 + k], expected);
                }
            }
        }
        let mut part = vec![f32::NAN; 6 * 15];
        weight.dequantise(64..70, 32..45, &mut part, 15);
        for (row, part) in part.chunks_exact(15).enumerate() {
            assert_eq!(part[..13], all[(64 + row) * in_ + 32..][..13]);
            assert!(part[13..].iter().all(|x| x.is_nan()));
        }
    }

    #[test]
    fn tiles_are_taken_back_as_they_were_and_only_if_fp16_holds_them() {
        let (out, in_) = (40, 70);
        let mut values = ramp(out * in_);
        // A scale so large that its row has to be looked at: 127·514 fits, 128·514 would not.
        values[0] = 127.0 * 514.0;
        let weight = Q8Tiles::quantise(&values, out, in_).unwrap();
        let read = |change: &dyn Fn(&mut [u8])| {
            let fill = |bytes: &mut [u8]| {
                bytes.copy_from_slice(weight.bytes());
                change(bytes);
                Ok::<(), ()>(())
            };
            Q8Tiles::read(out, in_, fill).unwrap()
        };
        let again = read(&|_| ()).unwrap();
        assert_eq!((again.bytes(), again.shape()), (weight.bytes(), (out, in_)));
        assert_eq!(again.operand().row_stride, weight.operand().row_stride);
        for scale in [f16::NAN, f16::INFINITY, f16::from_f32(517.0)] {
            assert!(read(&|bytes| bytes[1024..1026].copy_from_slice(&scale.to_le_bytes())).is_none(), "{scale}");
        }
        assert_eq!(Q8Tiles::read(out, in_, |_| Err("gone")).err(), Some("gone"));
    }

    #[test]
    fn finds_a_product_that_leaves_fp16() {
        // 65504/127 rounds up to 516 in FP16 and 127·516 = 65532 rounds to Inf.
        let error = Q8Tiles::quantise(&[0.0, 65_504.0], 1, 2).err().unwrap();
        assert_eq!((error.row, error.column, error.value), (0, 1, 65_532.0));
        assert!(Q8Tiles::quantise(&[65_000.0], 1, 1).is_ok());
    }
}
