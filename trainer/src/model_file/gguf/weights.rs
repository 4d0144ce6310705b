//! The tensors of a GGUF file under their canonical names.

use super::dequantise::dequantise;
use super::element::Element;
use super::header::{Header, TensorInfo};
use super::names;
use crate::model_file::fingerprint::Fingerprint;
use crate::model_file::finite::check_finite;
use crate::model_file::source_file::SourceFile;
use crate::model_file::{ModelError, TensorSource};
use crate::registry::ModelConfig;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Tensors of an open file.
pub(super) struct GgufWeights {
    file: SourceFile,
    tensors: BTreeMap<String, TensorInfo>,
    /// Width of a rotary head whose rows are interleaved; `None` if none is.
    interleaved: Option<usize>,
    fingerprint: OnceLock<String>,
}

impl GgufWeights {
    /// Takes the directory of a checked header. A tensor the architecture has no name for keeps its
    /// own, so that the layout check can name it.
    pub(super) fn new(file: SourceFile, header: &Header, config: &ModelConfig) -> GgufWeights {
        let tensors = header
            .tensors
            .iter()
            // Configuration in the shape of a tensor; it has been read into the config.
            .filter(|info| info.name != "rope_freqs.weight")
            .map(|info| {
                let name = names::canonical(&info.name).unwrap_or_else(|| info.name.clone());
                (name, info.clone())
            })
            .collect();
        let interleaved = config.architecture.description().gguf_interleaved.then_some(config.head_dim);
        GgufWeights { file, tensors, interleaved, fingerprint: OnceLock::new() }
    }

    fn info(&self, name: &str) -> Result<&TensorInfo, ModelError> {
        self.tensors.get(name).ok_or_else(|| ModelError::TensorMissing { name: name.into() })
    }

    /// Calls `take` with every stored row and the index the row has in canonical order.
    fn rows(&self, name: &str, info: &TensorInfo, mut take: impl FnMut(usize, &[u8])) -> Result<(), ModelError> {
        let row_bytes = info.bytes / rows_of(info);
        let head_dim = self.interleaved.filter(|_| names::is_rotary(name));
        let mut row = 0;
        self.file.stream(info.start, info.bytes, row_bytes, |piece| {
            for bytes in piece.chunks_exact(row_bytes) {
                let place = head_dim.map_or(row, |head_dim| names::half_split_row(row, head_dim));
                take(place, bytes);
                row += 1;
            }
            Ok(())
        })
    }
}

fn rows_of(info: &TensorInfo) -> usize {
    info.shape[..info.shape.len() - 1].iter().product()
}

impl TensorSource for GgufWeights {
    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        Some(self.tensors.get(name)?.shape.clone())
    }

    fn read_f32(&self, name: &str) -> Result<Vec<f32>, ModelError> {
        let info = self.info(name)?;
        let values = info.shape.iter().product::<usize>();
        let width = values / rows_of(info);
        let mut out = vec![0.0; values];
        self.rows(name, info, |row, bytes| {
            dequantise(info.element, bytes, &mut out[row * width..][..width]);
        })?;
        check_finite(name, 0, &out)?;
        Ok(out)
    }

    fn stream_f32(&self, name: &str, take: &mut dyn FnMut(&[f32])) -> Result<(), ModelError> {
        if self.interleaved.is_some() && names::is_rotary(name) {
            take(&self.read_f32(name)?);
            return Ok(());
        }
        let info = self.info(name)?;
        let (mut values, mut first) = (Vec::new(), 0);
        let (block, block_bytes) = (info.element.block_values(), info.element.block_bytes());
        self.file.stream(info.start, info.bytes, info.bytes / rows_of(info), |piece| {
            values.resize(piece.len() / block_bytes * block, 0.0);
            dequantise(info.element, piece, &mut values);
            check_finite(name, first, &values)?;
            first += values.len();
            take(&values);
            Ok(())
        })
    }

    fn q8_0_blocks(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError> {
        let info = self.info(name)?;
        if info.element != Element::Q8_0 {
            return Ok(None);
        }
        let row_bytes = info.bytes / rows_of(info);
        let mut out = vec![0; info.bytes];
        self.rows(name, info, |row, bytes| {
            out[row * row_bytes..][..row_bytes].copy_from_slice(bytes);
        })?;
        // A block is as finite as its scale: index of the block's first value.
        for (block, bytes) in out.chunks_exact(Element::Q8_0.block_bytes()).enumerate() {
            let value = super::dequantise::half_at(bytes, 0);
            if !value.is_finite() {
                return Err(ModelError::NotFinite {
                    name: name.into(),
                    index: block * Element::Q8_0.block_values(),
                    value,
                });
            }
        }
        Ok(Some(out))
    }

    fn decoding(&self) -> String {
        match self.interleaved {
            Some(head_dim) => format!("GGUF, rows of rotary heads of {head_dim} interleaved"),
            None => "GGUF".to_owned(),
        }
    }

    fn touched(&self) -> bool {
        self.file.touched()
    }

    fn names(&self) -> Vec<String> {
        self.tensors.keys().cloned().collect()
    }

    fn fingerprint(&self) -> Result<String, ModelError> {
        if let Some(known) = self.fingerprint.get() {
            return Ok(known.clone());
        }
        let mut fingerprint = Fingerprint::new();
        for (name, info) in &self.tensors {
            fingerprint.tensor(name, info.element.name(), &info.shape);
            self.file.stream(info.start, info.bytes, 1, |piece| {
                fingerprint.bytes(piece);
                Ok(())
            })?;
        }
        Ok(self.fingerprint.get_or_init(|| fingerprint.finish()).clone())
    }
}
