//! Q8 weights are made once: they are kept in a file beside the checkpoint, in the layout the NPU reads, and read from it by
//! the next start.
//!
//! The file is named after a SHA-256 of everything the weights in it depend on: every stored byte of the checkpoint, how those
//! bytes are read, names and precision, and the version of layout and rounding. So a checkpoint that changed never finds the
//! file of another, whatever its length and times are. Inside, every weight has a checksum of its own; a file that is damaged is
//! named, ignored and written again. Only weights that this program quantised are kept: those a file stores as Q8_0 are
//! only put into another order, which is as fast as reading them back.

mod file;
mod identity;
mod place;

pub use place::WeightCachePlace;

use std::path::{Path, PathBuf};

use hexagon_runtime::{Precision, Q8Tiles, RuntimeBuilder};

use crate::model_file::{ModelError, ModelFile};
use crate::registry::PrecisionPolicy;
use file::{CacheFault, CacheFile, write};
use identity::identity;

/// The cache of one checkpoint under one precision policy.
pub struct WeightCache {
    /// `None`: nothing is kept.
    target: Option<Target>,
}

struct Target {
    identity: String,
    /// Where it may lie, the preferred place first.
    paths: Vec<PathBuf>,
    /// The file found, as long as nothing in it was damaged.
    found: Option<CacheFile>,
    /// Weights that came from the file or belong there.
    quantised: Vec<String>,
}

/// What came of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeightCacheUse {
    /// Nothing to keep, switched off, or no place to write to (a warning said so).
    Unused,
    /// All quantised weights came from this file.
    Read(PathBuf),
    /// The weights were quantised and written to this file.
    Made(PathBuf),
}

impl WeightCache {
    /// No cache: every weight is made from the checkpoint.
    pub fn off() -> WeightCache {
        WeightCache { target: None }
    }

    /// The cache of a checkpoint, with the file in `place` if there is one. A file that is not what its name says is no error:
    /// a warning says so, and [`WeightCache::keep`] replaces it.
    ///
    /// # Errors
    /// A checkpoint that cannot be read.
    pub fn open(
        model: &ModelFile,
        policy: &PrecisionPolicy,
        place: &WeightCachePlace,
    ) -> Result<WeightCache, ModelError> {
        let projections = model.config.projections();
        let names: Vec<&str> =
            projections.iter().filter(|p| policy.of(p.kind) == Precision::Q8).map(|p| p.name.as_str()).collect();
        if names.is_empty() || *place == WeightCachePlace::Off {
            return Ok(WeightCache::off());
        }
        let identity = identity(model, &names)?;
        let paths = place.paths(&model.path, &identity);
        let found = paths
            .iter()
            .filter(|path| path.exists())
            .find_map(|path| CacheFile::open(path, &identity).map_err(|fault| say_ignored(path, &fault)).ok());
        Ok(WeightCache { target: Some(Target { identity, paths, found, quantised: Vec::new() }) })
    }

    /// A weight from the file; `None` if it is not there. After the first damaged one no other is taken.
    pub(crate) fn tiles(&mut self, name: &str, out: usize, in_: usize) -> Option<Q8Tiles> {
        let target = self.target.as_mut()?;
        let file = target.found.as_ref().filter(|file| file.has(name))?;
        match file.tiles(name, out, in_) {
            Ok(tiles) => {
                target.quantised.push(name.to_owned());
                Some(tiles)
            }
            Err(fault) => {
                say_ignored(file.path(), &fault);
                target.found = None;
                None
            }
        }
    }

    /// Notes a weight that was quantised here.
    pub(crate) fn quantised(&mut self, name: &str) {
        if let Some(target) = &mut self.target {
            target.quantised.push(name.to_owned());
        }
    }

    /// Writes the weights that `builder` now holds, unless all of them came from the file. What cannot be written is a warning:
    /// the run goes on, and the next start quantises again.
    pub fn keep(self, model: &ModelFile, builder: &RuntimeBuilder) -> WeightCacheUse {
        let Some(Target { identity, paths, found, quantised }) = self.target else { return WeightCacheUse::Unused };
        // A weight beyond FP16 was not kept in Q8.
        let weights: Vec<(&str, &Q8Tiles)> =
            builder.q8_tiles().filter(|(name, _)| quantised.iter().any(|q| q == name)).collect();
        if let Some(file) = found {
            match weights.iter().find(|(name, _)| !file.has(name)) {
                None => return WeightCacheUse::Read(file.path().to_owned()),
                Some((name, _)) => say_ignored(file.path(), &CacheFault::Missing { name: (*name).to_owned() }),
            }
        }
        if weights.is_empty() {
            return WeightCacheUse::Unused;
        }
        if model.tensors.touched() {
            tracing::warn!(
                "{} was written to while it was read: its quantised weights are not kept",
                model.path.display()
            );
            return WeightCacheUse::Unused;
        }
        for path in paths {
            match write(&path, &identity, &weights) {
                Ok(()) => return WeightCacheUse::Made(path),
                Err(fault) => tracing::warn!(
                    "quantised weights cannot be kept in {}: {fault}. Free space there, or choose another folder or none with \
                     --weight-cache",
                    path.display()
                ),
            }
        }
        WeightCacheUse::Unused
    }
}

fn say_ignored(path: &Path, fault: &CacheFault) {
    tracing::warn!("weight cache {}: {fault}; it is ignored and made again from the checkpoint", path.display());
}
