//! The network's configuration from GGUF metadata.

use super::header::Header;
use super::metadata::{Metadata, missing};
use super::{GgufError, rope_factors};
use crate::model_file::source_file::SourceFile;
use crate::model_file::{Architecture, ModelConfig, ModelError, Rope};

/// Reads and checks the `llama.*` keys and the tensors that carry configuration.
pub(super) fn read(file: &SourceFile, header: &Header) -> Result<ModelConfig, ModelError> {
    let path = file.path();
    let gguf = |source| ModelError::Gguf { path: path.into(), source };
    let metadata = &header.metadata;
    let found =
        metadata.string("general.architecture").map_err(gguf)?.ok_or_else(|| gguf(missing("general.architecture")))?;
    if found != "llama" {
        return Err(ModelError::Architecture {
            path: path.into(),
            found: found.into(),
            supported: Architecture::SUPPORTED,
        });
    }
    refuse_variants(metadata).map_err(gguf)?;

    let size = |key: &str| required(metadata, key).map_err(gguf);
    let hidden = size("llama.embedding_length")?;
    let heads = size("llama.attention.head_count")?;
    let kv_heads = optional(metadata, "llama.attention.head_count_kv").map_err(gguf)?.unwrap_or(heads);
    let key_length = optional(metadata, "llama.attention.key_length").map_err(gguf)?;
    let head_dim = match key_length {
        Some(length) => length,
        None if heads > 0 && hidden.is_multiple_of(heads) => hidden / heads,
        None => {
            let problem = format!("{hidden} does not divide into {heads} heads");
            return Err(ModelError::config(path, "llama.embedding_length", problem));
        }
    };
    for key in ["llama.attention.value_length", "llama.rope.dimension_count"] {
        match optional(metadata, key).map_err(gguf)? {
            Some(found) if found != head_dim => {
                let problem = format!("is {found}; only the whole head of {head_dim} is supported");
                return Err(ModelError::config(path, key, problem));
            }
            _ => {}
        }
    }
    let vocab = match tensor(header, "token_embd.weight") {
        Some(shape) if shape.len() == 2 => shape[0],
        _ => {
            return Err(ModelError::TensorMissing { name: "model.embed_tokens.weight".into() });
        }
    };
    match optional(metadata, "llama.vocab_size").map_err(gguf)? {
        Some(size) if size != vocab => {
            let problem = format!("is {size}, but the embedding has {vocab} rows");
            return Err(ModelError::config(path, "llama.vocab_size", problem));
        }
        _ => {}
    }
    let theta = metadata.float("llama.rope.freq_base").map_err(gguf)?.unwrap_or(10_000.0);
    let norm_eps = metadata
        .float("llama.attention.layer_norm_rms_epsilon")
        .map_err(gguf)?
        .ok_or_else(|| gguf(missing("llama.attention.layer_norm_rms_epsilon")))?;
    let mut config = ModelConfig {
        architecture: Architecture::Llama,
        hidden,
        layers: size("llama.block_count")?,
        heads,
        kv_heads,
        head_dim,
        intermediate: size("llama.feed_forward_length")?,
        vocab,
        norm_eps: norm_eps as f32,
        rope: Rope { theta, scaling: None },
        tied_head: tensor(header, "output.weight").is_none(),
        max_positions: size("llama.context_length")?,
    };
    config.check(path)?;
    config.rope.scaling = rope_factors::read(file, header, &config)?;
    Ok(config)
}

/// Kinds of llama files whose arithmetic is another one.
fn refuse_variants(metadata: &Metadata) -> Result<(), GgufError> {
    let parts = metadata.unsigned("split.count")?.unwrap_or(0);
    if parts > 1 {
        return Err(GgufError::Split { parts });
    }
    if metadata.unsigned("llama.expert_count")?.unwrap_or(0) > 0 {
        return Err(GgufError::WrongType {
            key: "llama.expert_count".into(),
            expected: "0 (mixture-of-experts models are not supported)",
            found: "more".into(),
        });
    }
    match metadata.string("llama.rope.scaling.type")? {
        None | Some("none") => Ok(()),
        Some(other) => Err(GgufError::WrongType {
            key: "llama.rope.scaling.type".into(),
            expected: "none (Llama 3's bands come as the tensor rope_freqs.weight)",
            found: format!("`{other}`"),
        }),
    }
}

fn tensor<'a>(header: &'a Header, name: &str) -> Option<&'a [usize]> {
    let info = header.tensors.iter().find(|info| info.name == name)?;
    Some(&info.shape)
}

fn optional(metadata: &Metadata, key: &str) -> Result<Option<usize>, GgufError> {
    // A number beyond the address space is refused by the range check that follows.
    Ok(metadata.unsigned(key)?.map(|value| usize::try_from(value).unwrap_or(usize::MAX)))
}

fn required(metadata: &Metadata, key: &str) -> Result<usize, GgufError> {
    optional(metadata, key)?.ok_or_else(|| missing(key))
}
