//! Resident frozen weights: one copy per projection, read by both directions and by the CPU float path.

mod f16;
mod q8;

use std::ops::Range;

pub(crate) use f16::F16Rows;
pub use q8::Q8Tiles;

use crate::device::WeightOperand;
use crate::{Precision, RuntimeError};

/// Rows and columns of an HMX tile.
pub(crate) const TILE: usize = 32;
/// Weights along the input that share a Q8_0 scale.
pub(crate) const Q8_BLOCK: usize = 32;
/// Bytes of one ggml Q8_0 block: an FP16 scale and 32 int8.
pub const Q8_BLOCK_BYTES: usize = 34;

/// A frozen weight as the model file holds it, row-major `[out][in]`.
#[derive(Clone, Copy, Debug)]
pub enum WeightData<'a> {
    /// `out × in` values.
    F32(&'a [f32]),
    /// ggml Q8_0 blocks (FP16 scale d, 32 int8 q; weight = q·d), `⌈in/32⌉` blocks per row; kept as they are under
    /// [`Precision::Q8`].
    Q8Blocks(&'a [u8]),
}

/// One resident weight.
pub(crate) enum Weight {
    F32(F32Rows),
    F16(F16Rows),
    Q8(Q8Tiles),
}

pub(crate) struct F32Rows {
    in_: usize,
    values: Vec<f32>,
}

/// A weight made resident, and why it is not in the precision asked for, if it is not.
pub(crate) struct Resident {
    pub weight: Weight,
    pub misfit: Option<String>,
}

impl Weight {
    /// Rounds `data` to `precision`. A weight whose effective values leave FP16 stays f32 and says so.
    ///
    /// # Errors
    /// Wrong length, or NaN/Inf in the data, with the projection's `name`.
    pub fn resident(
        name: &str,
        out: usize,
        in_: usize,
        data: WeightData<'_>,
        precision: Precision,
    ) -> Result<Resident, RuntimeError> {
        if out == 0 || in_ == 0 {
            return Err(RuntimeError::EmptyShape { name: name.to_owned(), out, in_ });
        }
        check_length(name, out, in_, data)?;
        check_finite(name, in_, data)?;
        let made = match (precision, data) {
            (Precision::F32, WeightData::F32(values)) => Ok(Weight::F32(F32Rows { in_, values: values.to_vec() })),
            (Precision::F32, WeightData::Q8Blocks(blocks)) => {
                Ok(Weight::F32(F32Rows { in_, values: q8::dequantise_blocks(blocks, out, in_) }))
            }
            (Precision::F16, WeightData::F32(values)) => F16Rows::round(values, out, in_).map(Weight::F16),
            (Precision::F16, WeightData::Q8Blocks(blocks)) => {
                F16Rows::round(&q8::dequantise_blocks(blocks, out, in_), out, in_).map(Weight::F16)
            }
            (Precision::Q8, WeightData::F32(values)) => Q8Tiles::quantise(values, out, in_).map(Weight::Q8),
            (Precision::Q8, WeightData::Q8Blocks(blocks)) => Q8Tiles::repack(blocks, out, in_).map(Weight::Q8),
        };
        Ok(match made {
            Ok(weight) => Resident { weight, misfit: None },
            Err(TooLarge { row, column, value }) => {
                let values = match data {
                    WeightData::F32(values) => values.to_vec(),
                    WeightData::Q8Blocks(blocks) => q8::dequantise_blocks(blocks, out, in_),
                };
                Resident {
                    weight: Weight::F32(F32Rows { in_, values }),
                    misfit: Some(format!("weight {value:e} at row {row}, column {column} does not fit FP16")),
                }
            }
        })
    }

    /// What the weight is kept in.
    pub fn precision(&self) -> Precision {
        match self {
            Weight::F32(_) => Precision::F32,
            Weight::F16(_) => Precision::F16,
            Weight::Q8(_) => Precision::Q8,
        }
    }

    /// Writes the effective weights of output features `rows` and input features `columns` as f32 rows that
    /// start `stride` values apart. Both ranges start at multiples of 32.
    pub fn dequantise(&self, rows: Range<usize>, columns: Range<usize>, to: &mut [f32], stride: usize) {
        match self {
            Weight::F32(weight) => {
                for (row, to) in rows.zip(to.chunks_mut(stride)) {
                    to[..columns.len()].copy_from_slice(&weight.values[row * weight.in_..][columns.clone()]);
                }
            }
            Weight::F16(weight) => weight.dequantise(rows, columns, to, stride),
            Weight::Q8(weight) => weight.dequantise(rows, columns, to, stride),
        }
    }

    /// The weight as the kernels read it; `None`: none does.
    pub fn operand(&self) -> Option<WeightOperand<'_>> {
        match self {
            Weight::F32(_) => None,
            Weight::F16(weight) => Some(weight.operand()),
            Weight::Q8(weight) => Some(weight.operand()),
        }
    }

    /// Resident bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Weight::F32(weight) => weight.values.len() * 4,
            Weight::F16(weight) => weight.bytes().len(),
            Weight::Q8(weight) => weight.bytes().len(),
        }
    }
}

/// The first effective weight that FP16 cannot hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TooLarge {
    pub row: usize,
    pub column: usize,
    pub value: f32,
}

fn check_length(name: &str, out: usize, in_: usize, data: WeightData<'_>) -> Result<(), RuntimeError> {
    let (got, expected, unit) = match data {
        WeightData::F32(values) => (values.len(), out.checked_mul(in_), "values"),
        WeightData::Q8Blocks(bytes) => (
            bytes.len(),
            in_.div_ceil(Q8_BLOCK).checked_mul(Q8_BLOCK_BYTES).and_then(|row| row.checked_mul(out)),
            "bytes",
        ),
    };
    // A product that overflows can match no length.
    let expected = expected.unwrap_or(usize::MAX);
    if got == expected {
        return Ok(());
    }
    Err(RuntimeError::WeightLength { name: name.to_owned(), out, in_, expected, got, unit })
}

fn check_finite(name: &str, in_: usize, data: WeightData<'_>) -> Result<(), RuntimeError> {
    let bad = match data {
        WeightData::F32(values) => {
            // Folding before searching lets the common case run at memory speed.
            let finite = values.chunks(4096).all(|chunk| chunk.iter().fold(true, |all, x| all & x.is_finite()));
            let position = if finite { None } else { values.iter().position(|x| !x.is_finite()) };
            position.map(|i| (i / in_, i % in_, values[i]))
        }
        WeightData::Q8Blocks(blocks) => {
            let row_blocks = in_.div_ceil(Q8_BLOCK);
            blocks
                .chunks_exact(Q8_BLOCK_BYTES)
                .map(q8::block_scale)
                .enumerate()
                .find(|(_, d)| !d.is_finite())
                .map(|(i, d)| (i / row_blocks, i % row_blocks * Q8_BLOCK, d))
        }
    };
    match bad {
        None => Ok(()),
        Some((row, column, value)) => Err(RuntimeError::WeightNotFinite { name: name.to_owned(), row, column, value }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_weight_of_the_wrong_length() {
        let text = |data| Weight::resident("q_proj", 2, 33, data, Precision::Q8).err().unwrap().to_string();
        assert!(text(WeightData::F32(&[0.0; 65])).contains("q_proj has 65 values, its shape 2x33 needs 66"));
        assert!(text(WeightData::Q8Blocks(&[0; 68])).contains("needs 136"));
    }

    #[test]
    fn refuses_nan_and_names_its_place() {
        let mut values = vec![1.0f32; 4 * 40];
        values[2 * 40 + 7] = f32::NAN;
        for precision in [Precision::F32, Precision::F16, Precision::Q8] {
            match Weight::resident("v_proj", 4, 40, WeightData::F32(&values), precision) {
                Err(RuntimeError::WeightNotFinite { row: 2, column: 7, .. }) => {}
                other => panic!("{:?}", other.err()),
            }
        }
    }

    #[test]
    fn a_weight_beyond_fp16_stays_f32_with_the_reason() {
        let mut values = vec![1.0f32; 4 * 40];
        values[45] = 70_000.0;
        for precision in [Precision::F16, Precision::Q8] {
            let resident = Weight::resident("o_proj", 4, 40, WeightData::F32(&values), precision).unwrap();
            assert_eq!(resident.weight.precision(), Precision::F32);
            let reason = resident.misfit.unwrap();
            assert!(reason.contains("row 1, column 5"), "{reason}");
        }
    }
}
