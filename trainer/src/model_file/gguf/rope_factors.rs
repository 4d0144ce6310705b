//! Llama 3's rope scaling, which GGUF keeps as a table instead of parameters.
//!
//! `rope_freqs.weight` holds, per rotary pair, the number its frequency is divided by. The table is
//! turned back into parameters and accepted only if these parameters give the same table.

use super::dequantise::dequantise;
use super::header::Header;
use crate::model_file::ModelError;
use crate::model_file::source_file::SourceFile;
use crate::registry::{Llama3Scaling, ModelConfig};

const TABLE: &str = "rope_freqs.weight";

/// The scaling a file's table stands for, or `None` when it has no table.
pub(super) fn read(
    file: &SourceFile,
    header: &Header,
    config: &ModelConfig,
) -> Result<Option<Llama3Scaling>, ModelError> {
    let Some(info) = header.tensors.iter().find(|info| info.name == TABLE) else {
        return Ok(None);
    };
    let expected = vec![config.head_dim / 2];
    if info.shape != expected {
        return Err(ModelError::TensorShape { name: TABLE.into(), expected, found: info.shape.clone() });
    }
    let mut bytes = vec![0; info.bytes];
    file.read_at(info.start, &mut bytes)?;
    let mut table = vec![0.0; config.head_dim / 2];
    dequantise(info.element, &bytes, &mut table);
    let scaling = from_table(&table, config.rope.theta).ok_or_else(|| {
        ModelError::config(
            file.path(),
            TABLE,
            "the table is not Llama 3's scaling (bands 1 and 4, original context 8192); use the \
             Hugging Face folder of this model, which states its parameters",
        )
    })?;
    // A table of ones scales nothing.
    Ok(Some(scaling).filter(|scaling| scaling.factor > 1.0))
}

/// The parameters behind a table, or `None` when no parameters of this kind give it.
fn from_table(table: &[f32], theta: f64) -> Option<Llama3Scaling> {
    let factor = table.iter().copied().fold(0.0, f32::max);
    let scaling =
        Llama3Scaling { factor: f64::from(factor), low_freq: 1.0, high_freq: 4.0, original_positions: 8192.0 };
    let wanted = divisors(&scaling, theta, table.len());
    let same = table.iter().zip(wanted).all(|(&found, wanted)| (f64::from(found) - wanted).abs() <= 1e-4 * wanted);
    same.then_some(scaling)
}

/// What each of `pairs` frequencies is divided by: wavelengths beyond `original/low` by the factor,
/// those under `original/high` by 1, and between by the inverse of the blend of both.
fn divisors(scaling: &Llama3Scaling, theta: f64, pairs: usize) -> Vec<f64> {
    let Llama3Scaling { factor, low_freq, high_freq, original_positions } = *scaling;
    (0..pairs)
        .map(|pair| {
            let wavelength = std::f64::consts::TAU * theta.powf(pair as f64 / pairs as f64);
            if wavelength < original_positions / high_freq {
                1.0
            } else if wavelength > original_positions / low_freq {
                factor
            } else {
                let smooth = (original_positions / wavelength - low_freq) / (high_freq - low_freq);
                1.0 / ((1.0 - smooth) / factor + smooth)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn llama_3_2() -> Llama3Scaling {
        Llama3Scaling { factor: 32.0, low_freq: 1.0, high_freq: 4.0, original_positions: 8192.0 }
    }

    fn table(scaling: &Llama3Scaling) -> Vec<f32> {
        let divisors = divisors(scaling, 5e5, 64);
        divisors.into_iter().map(|value| value as f32).collect()
    }

    #[test]
    fn parameters_come_back_from_their_table() {
        let table = table(&llama_3_2());
        assert_eq!(from_table(&table, 5e5), Some(llama_3_2()));
    }

    #[test]
    fn a_table_of_other_parameters_is_refused() {
        let other = Llama3Scaling { original_positions: 4096.0, ..llama_3_2() };
        assert_eq!(from_table(&table(&other), 5e5), None);
        let mut damaged = table(&llama_3_2());
        damaged[40] = f32::NAN;
        assert_eq!(from_table(&damaged, 5e5), None);
    }
}
