//! Writes the folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::SynthError;
use super::tensors::{FloatType, Tensor};
use super::{config_json, shards, tokenizer};
use crate::registry::ModelConfig;

/// Bytes of a weight file unless told otherwise.
pub const DEFAULT_SHARD_BYTES: u64 = 4_000_000_000;

/// What to make.
#[derive(Clone, Debug)]
pub struct Synth {
    /// The model whose shapes are taken.
    pub config: ModelConfig,
    /// Its first layers only; `None`: all.
    pub layers: Option<usize>,
    /// Key of every value.
    pub seed: u64,
    /// What weights are stored as. A_log and the output norm of DeltaNet layers are F32 in any case, as in published
    /// checkpoints.
    pub float: FloatType,
    /// Add a byte-level tokenizer with a chat template.
    pub tokenizer: bool,
    /// Most bytes of a weight file; a larger tensor has one for itself.
    pub shard_bytes: u64,
}

/// What was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synthesized {
    /// Layers.
    pub layers: usize,
    /// Parameters.
    pub parameters: u64,
    /// Bytes of all weights.
    pub bytes: u64,
    /// Weight files.
    pub files: usize,
}

/// Writes `folder`, which must be new or empty: weights block by block, `config.json` last, so that an unfinished folder is
/// no model. `progress` hears bytes written and bytes in all.
///
/// # Errors
/// A layer count the model does not have, a folder with something in it, a full disk.
pub fn write(folder: &Path, synth: &Synth, progress: &mut dyn FnMut(u64, u64)) -> Result<Synthesized, SynthError> {
    let available = synth.config.layers;
    let layers = synth.layers.unwrap_or(available);
    if layers == 0 || layers > available {
        return Err(SynthError::Layers { asked: layers, available });
    }
    let config = synth.config.clone().first_layers(layers);
    if synth.tokenizer && config.vocab < tokenizer::TOKENS {
        return Err(SynthError::Vocabulary { tokens: tokenizer::TOKENS, vocab: config.vocab });
    }
    let tensors = Tensor::all(&config, synth.float, synth.seed);
    let total: u64 = tensors.iter().map(|tensor| tensor.bytes() as u64).sum();
    let failed = |path: PathBuf| move |source: io::Error| SynthError::Io { path, source, bytes: total };

    fs::create_dir_all(folder).map_err(failed(folder.into()))?;
    if fs::read_dir(folder).map_err(failed(folder.into()))?.next().is_some() {
        return Err(SynthError::NotEmpty { path: folder.into() });
    }
    let shards = shards::split(tensors, synth.shard_bytes);
    let mut done = 0;
    for (number, tensors) in shards.iter().enumerate() {
        let path = folder.join(shards::file_name(number, shards.len()));
        let mut written = |bytes| {
            done += bytes;
            progress(done, total);
        };
        shards::write(&path, tensors, &mut written).map_err(failed(path))?;
    }
    let put = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(failed(path))
    };
    if shards.len() > 1 {
        put("model.safetensors.index.json", format!("{:#}\n", shards::index(&shards)))?;
    }
    if synth.tokenizer {
        let (tokenizer, settings) = tokenizer::files()?;
        put("tokenizer.json", tokenizer)?;
        put("tokenizer_config.json", format!("{settings:#}\n"))?;
    }
    let eos = synth.tokenizer.then_some(tokenizer::EOS);
    put("config.json", format!("{:#}\n", config_json::config_json(&config, synth.float, eos)))?;
    Ok(Synthesized { layers, parameters: config.parameters(), bytes: total, files: shards.len() })
}
