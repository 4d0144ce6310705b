//! The file: safetensors, a tensor of tiles a weight, with checksums in its metadata. It is read by position, straight to where the
//! weight stays.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

use hexagon_runtime::Q8Tiles;
use rayon::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, serialize_to_file};
use sha2::{Digest, Sha256};

use super::identity::{LAYOUT, hex};
use crate::model_file::{ModelError, SafetensorsFile};

const FORMAT: &str = "permafrost q8 tiles";
/// Bytes that are hashed in one piece; pieces are hashed side by side.
const PIECE: usize = 1 << 20;

/// Why a file is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum CacheFault {
    /// Not readable, or no safetensors file of this length.
    #[error(transparent)]
    File(#[from] ModelError),
    /// Another kind of file, another version, or made from something else.
    #[error("its {what} is {found:?}, not {expected:?}")]
    Foreign {
        /// Key of the metadata.
        what: &'static str,
        found: String,
        expected: String,
    },
    /// A weight is not there.
    #[error("{name} is missing")]
    Missing {
        /// Projection.
        name: String,
    },
    /// The bytes are not those that were written.
    #[error("{name} is damaged")]
    Damaged {
        /// Projection.
        name: String,
    },
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteFault {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Format(#[from] SafeTensorError),
}

/// An open cache file of the right identity.
pub(super) struct CacheFile {
    file: SafetensorsFile,
    checksums: HashMap<String, String>,
}

impl CacheFile {
    pub(super) fn open(path: &Path, identity: &str) -> Result<CacheFile, CacheFault> {
        let file = SafetensorsFile::open(path)?;
        let mut checksums = file.header.metadata().clone().unwrap_or_default();
        for (what, expected) in header(identity) {
            let found = checksums.remove(what).unwrap_or_default();
            if found != expected {
                return Err(CacheFault::Foreign { what, found, expected: expected.to_owned() });
            }
        }
        Ok(CacheFile { file, checksums })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.file.path()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.file.header.info(name).is_some()
    }

    /// Reads a weight of `out` × `in_`.
    pub(super) fn tiles(&self, name: &str, out: usize, in_: usize) -> Result<Q8Tiles, CacheFault> {
        let damaged = || CacheFault::Damaged { name: name.to_owned() };
        let info = self.file.header.info(name).ok_or_else(damaged)?;
        let (start, bytes) = self.file.place(info);
        if info.dtype != Dtype::U8 || bytes != Q8Tiles::byte_len(out, in_) {
            return Err(damaged());
        }
        let tiles = Q8Tiles::read(out, in_, |bytes| {
            self.file.file.read_at(start, bytes)?;
            match self.checksums.get(name) {
                Some(expected) if *expected == checksum(bytes) => Ok(()),
                _ => Err(damaged()),
            }
        })?;
        tiles.ok_or_else(damaged)
    }
}

/// Writes `weights` beside `path` and renames the file to it when it is complete.
pub(super) fn write(path: &Path, identity: &str, weights: &[(&str, &Q8Tiles)]) -> Result<(), WriteFault> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut metadata: HashMap<String, String> = header(identity).map(|(key, value)| (key.into(), value.into())).into();
    metadata.extend(weights.iter().map(|(name, tiles)| ((*name).to_owned(), checksum(tiles.bytes()))));
    let views = weights.iter().map(|(name, tiles)| {
        let bytes = tiles.bytes();
        Ok((*name, TensorView::new(Dtype::U8, vec![bytes.len()], bytes)?))
    });
    let views: Vec<_> = views.collect::<Result<_, SafeTensorError>>()?;
    // A crash before the data reaches the disk leaves a file whose checksums are wrong: no sync is waited for.
    Ok(serialize_to_file(views, Some(metadata), path)?)
}

fn header(identity: &str) -> [(&'static str, &str); 3] {
    [("format", FORMAT), ("layout", LAYOUT), ("made from", identity)]
}

/// SHA-256 over the SHA-256 of every piece, in hex.
fn checksum(bytes: &[u8]) -> String {
    let pieces: Vec<_> = bytes.par_chunks(PIECE).map(Sha256::digest).collect();
    let mut whole = Sha256::new();
    pieces.iter().for_each(|piece| whole.update(piece));
    hex(&whole.finalize())
}
