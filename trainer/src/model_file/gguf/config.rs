//! The network's configuration from GGUF metadata.

use super::header::Header;
use super::metadata::{Metadata, missing};
use super::{GgufError, rope_factors};
use crate::model_file::ModelError;
use crate::model_file::source_file::SourceFile;
use crate::registry::{Architecture, ModelConfig, Rope};

/// Reads and checks the architecture's keys (`llama.*` and so on) and the tensors that carry configuration.
pub(super) fn read(file: &SourceFile, header: &Header) -> Result<ModelConfig, ModelError> {
    let path = file.path();
    let gguf = |source| ModelError::Gguf { path: path.into(), source };
    let metadata = &header.metadata;
    let found =
        metadata.string("general.architecture").map_err(gguf)?.ok_or_else(|| gguf(missing("general.architecture")))?;
    let architecture = Architecture::of_gguf(found).ok_or_else(|| ModelError::Architecture {
        path: path.into(),
        found: found.into(),
        supported: Architecture::SUPPORTED_GGUF,
    })?;
    let key = |part: &str| format!("{found}.{part}");
    refuse_variants(found, metadata).map_err(gguf)?;

    let size = |part: &str| required(metadata, &key(part)).map_err(gguf);
    let maybe = |part: &str| optional(metadata, &key(part)).map_err(gguf);
    let hidden = size("embedding_length")?;
    let heads = size("attention.head_count")?;
    let kv_heads = maybe("attention.head_count_kv")?.unwrap_or(heads);
    let head_dim = match maybe("attention.key_length")? {
        Some(length) => length,
        None if heads > 0 && hidden.is_multiple_of(heads) => hidden / heads,
        None => {
            let problem = format!("{hidden} does not divide into {heads} heads");
            return Err(ModelError::config(path, &key("embedding_length"), problem));
        }
    };
    for part in ["attention.value_length", "rope.dimension_count"] {
        match maybe(part)? {
            Some(found) if found != head_dim => {
                let problem = format!("is {found}; only the whole head of {head_dim} is supported");
                return Err(ModelError::config(path, &key(part), problem));
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
    match maybe("vocab_size")? {
        Some(size) if size != vocab => {
            let problem = format!("is {size}, but the embedding has {vocab} rows");
            return Err(ModelError::config(path, &key("vocab_size"), problem));
        }
        _ => {}
    }
    let theta = metadata.float(&key("rope.freq_base")).map_err(gguf)?.or(architecture.description().rope_theta);
    let theta = theta.ok_or_else(|| gguf(missing(&key("rope.freq_base"))))?;
    let norm_eps = metadata.float(&key("attention.layer_norm_rms_epsilon")).map_err(gguf)?;
    let norm_eps = norm_eps.ok_or_else(|| gguf(missing(&key("attention.layer_norm_rms_epsilon"))))?;
    let mut config = ModelConfig {
        architecture,
        hidden,
        layers: size("block_count")?,
        heads,
        kv_heads,
        head_dim,
        rotary_dim: head_dim,
        intermediate: size("feed_forward_length")?,
        vocab,
        norm_eps: norm_eps as f32,
        rope: Rope { theta, scaling: None },
        tied_head: tensor(header, "output.weight").is_none(),
        max_positions: size("context_length")?,
        delta_net: None,
    };
    config.check(path)?;
    config.rope.scaling = rope_factors::read(file, header, &config)?;
    Ok(config)
}

/// Kinds of files whose arithmetic is another one.
fn refuse_variants(architecture: &str, metadata: &Metadata) -> Result<(), GgufError> {
    let parts = metadata.unsigned("split.count")?.unwrap_or(0);
    if parts > 1 {
        return Err(GgufError::Split { parts });
    }
    let experts = format!("{architecture}.expert_count");
    if metadata.unsigned(&experts)?.unwrap_or(0) > 0 {
        return Err(GgufError::WrongType {
            key: experts,
            expected: "0 (mixture-of-experts models are not supported)",
            found: "more".into(),
        });
    }
    let scaling = format!("{architecture}.rope.scaling.type");
    match metadata.string(&scaling)? {
        None | Some("none") => Ok(()),
        Some(other) => Err(GgufError::WrongType {
            key: scaling.clone(),
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
