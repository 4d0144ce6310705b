//! One `.safetensors` file: u64 header length, JSON header, data.

use crate::model_file::ModelError;
use crate::model_file::source_file::SourceFile;
use safetensors::tensor::{Metadata, TensorInfo};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use std::collections::HashSet;
use std::path::Path;

/// The format's own limit on the JSON header.
const LARGEST_HEADER: u64 = 100_000_000;

/// An open file whose header accounts for every byte.
pub(crate) struct SafetensorsFile {
    pub(crate) file: SourceFile,
    pub(crate) header: Metadata,
    data_start: u64,
}

impl SafetensorsFile {
    pub(crate) fn open(path: &Path) -> Result<SafetensorsFile, ModelError> {
        let file = SourceFile::open(path)?;
        let broken = |problem: String| ModelError::Safetensors { path: path.into(), problem };
        if file.len() < 8 {
            return Err(broken(format!("{} bytes are too few for a header", file.len())));
        }
        let mut length = [0; 8];
        file.read_at(0, &mut length)?;
        let length = u64::from_le_bytes(length);
        if length > LARGEST_HEADER || length > file.len() - 8 {
            return Err(broken(format!(
                "the header claims {length} bytes, the file has {} after its length field",
                file.len() - 8
            )));
        }
        let mut json = vec![0; length as usize];
        file.read_at(8, &mut json)?;
        check_names(&json).map_err(|error| broken(format!("header: {error}")))?;
        // Deserialising checks shapes, types and that the tensors follow each other without gap or
        // overlap from offset 0.
        let header: Metadata = serde_json::from_slice(&json).map_err(|error| broken(format!("header: {error}")))?;
        let data_start = 8 + length;
        let described = data_start.checked_add(header.data_len() as u64);
        if described != Some(file.len()) {
            return Err(broken(format!(
                "the header describes {} bytes of data, the file has {} (truncated download?)",
                header.data_len(),
                file.len() - data_start
            )));
        }
        for (name, info) in header.tensors() {
            if info.shape.is_empty() || info.shape.contains(&0) {
                return Err(broken(format!("tensor `{name}` has the empty shape {:?}", info.shape)));
            }
        }
        Ok(SafetensorsFile { file, header, data_start })
    }

    /// Absolute position of a tensor's first byte, and its size in bytes.
    pub(crate) fn place(&self, info: &TensorInfo) -> (u64, usize) {
        let (start, end) = info.data_offsets;
        (self.data_start + start as u64, end - start)
    }
}

/// Refuses a header that gives one tensor twice; a map would keep the last one silently.
fn check_names(json: &[u8]) -> Result<(), serde_json::Error> {
    struct Names;

    impl<'de> Visitor<'de> for Names {
        type Value = ();

        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("an object of tensors")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            let mut seen = HashSet::new();
            while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                if let Some(name) = seen.replace(name) {
                    let twice = format!("tensor `{name}` appears twice");
                    return Err(serde::de::Error::custom(twice));
                }
            }
            Ok(())
        }
    }

    let mut json = serde_json::Deserializer::from_slice(json);
    json.deserialize_map(Names)
}
