//! The tensors of a folder.

use super::names;
use super::safetensors_file::SafetensorsFile;
use super::shards;
use crate::model_file::fingerprint::Fingerprint;
use crate::model_file::finite::check_finite;
use crate::model_file::source_file::SourceFile;
use crate::model_file::{ModelError, TensorSource};
use crate::registry::ModelConfig;
use half::{bf16, f16};
use safetensors::{Dtype, tensor::TensorInfo};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

const SUPPORTED: &str = "F32, F16, BF16";

/// Tensors of a folder's weight files.
pub(super) struct FolderWeights {
    files: Vec<SafetensorsFile>,
    places: BTreeMap<String, Place>,
    fingerprint: OnceLock<String>,
}

/// Where a tensor lies.
struct Place {
    /// Index of the file.
    file: usize,
    /// Its name there.
    stored: String,
}

impl FolderWeights {
    pub(super) fn open(folder: &Path, config: &ModelConfig) -> Result<FolderWeights, ModelError> {
        let (files, stored) = shards::open(folder)?;
        let mut places: BTreeMap<String, Place> = BTreeMap::new();
        for (stored, file) in stored {
            let Some(name) = names::canonical(config, &stored) else { continue };
            if let Some(other) = places.get(&name) {
                return Err(ModelError::TensorTwice { first: other.stored.clone(), second: stored });
            }
            places.insert(name, Place { file, stored });
        }
        let weights = FolderWeights { files, places, fingerprint: OnceLock::new() };
        for name in weights.places.keys() {
            let (_, info) = weights.find(name)?;
            width(name, info.dtype)?;
        }
        Ok(weights)
    }

    fn find(&self, name: &str) -> Result<(&SafetensorsFile, &TensorInfo), ModelError> {
        let found = self.places.get(name).and_then(|place| {
            let file = &self.files[place.file];
            Some((file, file.header.info(&place.stored)?))
        });
        found.ok_or_else(|| ModelError::TensorMissing { name: name.into() })
    }

    fn stored(&self, name: &str) -> Result<(&SourceFile, u64, usize, &TensorInfo), ModelError> {
        let (file, info) = self.find(name)?;
        let (start, bytes) = file.place(info);
        Ok((&file.file, start, bytes, info))
    }
}

/// Bytes of one value.
fn width(name: &str, dtype: Dtype) -> Result<usize, ModelError> {
    match dtype {
        Dtype::F32 => Ok(4),
        Dtype::F16 | Dtype::BF16 => Ok(2),
        other => Err(ModelError::TensorType { name: name.into(), found: format!("{other:?}"), supported: SUPPORTED }),
    }
}

impl TensorSource for FolderWeights {
    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.find(name).ok().map(|(_, info)| info.shape.clone())
    }

    fn read_f32(&self, name: &str) -> Result<Vec<f32>, ModelError> {
        let (_, _, bytes, info) = self.stored(name)?;
        let mut out = Vec::with_capacity(bytes / width(name, info.dtype)?);
        self.stream_f32(name, &mut |piece| out.extend_from_slice(piece))?;
        Ok(out)
    }

    fn stream_f32(&self, name: &str, take: &mut dyn FnMut(&[f32])) -> Result<(), ModelError> {
        let (file, start, bytes, info) = self.stored(name)?;
        let mut values = Vec::new();
        let mut first = 0;
        file.stream(start, bytes, width(name, info.dtype)?, |piece| {
            let halves = || piece.chunks_exact(2).map(|value| [value[0], value[1]]);
            values.clear();
            match info.dtype {
                Dtype::F16 => values.extend(halves().map(|value| f16::from_le_bytes(value).to_f32())),
                Dtype::BF16 => values.extend(halves().map(|value| bf16::from_le_bytes(value).to_f32())),
                _ => values.extend(
                    piece.chunks_exact(4).map(|value| f32::from_le_bytes([value[0], value[1], value[2], value[3]])),
                ),
            }
            check_finite(name, first, &values)?;
            first += values.len();
            take(&values);
            Ok(())
        })
    }

    fn q8_0_blocks(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError> {
        self.find(name).map(|_| None)
    }

    fn decoding(&self) -> String {
        "as stored".to_owned()
    }

    fn touched(&self) -> bool {
        self.files.iter().any(|file| file.file.touched())
    }

    fn names(&self) -> Vec<String> {
        self.places.keys().cloned().collect()
    }

    fn fingerprint(&self) -> Result<String, ModelError> {
        if let Some(known) = self.fingerprint.get() {
            return Ok(known.clone());
        }
        let mut fingerprint = Fingerprint::new();
        for name in self.places.keys() {
            let (file, start, bytes, info) = self.stored(name)?;
            fingerprint.tensor(name, &format!("{:?}", info.dtype), &info.shape);
            file.stream(start, bytes, 1, |piece| {
                fingerprint.bytes(piece);
                Ok(())
            })?;
        }
        Ok(self.fingerprint.get_or_init(|| fingerprint.finish()).clone())
    }
}
