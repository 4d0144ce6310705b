//! The network's configuration from `config.json`.

use super::side_file;
use crate::model_file::{Architecture, Llama3Scaling, ModelConfig, ModelError, Rope};
use serde::Deserialize;
use std::path::Path;

/// The keys that matter; all others describe training or serving.
#[derive(Deserialize)]
struct Raw {
    hidden_size: Option<usize>,
    num_hidden_layers: Option<usize>,
    num_attention_heads: Option<usize>,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    intermediate_size: Option<usize>,
    vocab_size: Option<usize>,
    max_position_embeddings: Option<usize>,
    rms_norm_eps: Option<f64>,
    tie_word_embeddings: Option<bool>,
    hidden_act: Option<String>,
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
    /// One object for everything (transformers 5).
    rope_parameters: Option<RawRope>,
    /// The older pair.
    rope_theta: Option<f64>,
    rope_scaling: Option<RawRope>,
    eos_token_id: Option<OneOrMany>,
    bos_token_id: Option<OneOrMany>,
}

#[derive(Deserialize)]
struct RawRope {
    rope_type: Option<String>,
    /// The older name; some files have both.
    #[serde(rename = "type")]
    old_type: Option<String>,
    rope_theta: Option<f64>,
    factor: Option<f64>,
    low_freq_factor: Option<f64>,
    high_freq_factor: Option<f64>,
    original_max_position_embeddings: Option<f64>,
}

/// Some files list several ends of an answer; the first one is the model's own.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(u64),
    Many(Vec<u64>),
}

impl OneOrMany {
    fn first(&self) -> Option<u64> {
        match self {
            OneOrMany::One(id) => Some(*id),
            OneOrMany::Many(ids) => ids.first().copied(),
        }
    }
}

/// Special ids that `config.json` names; held against the vocabulary.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConfigTokens {
    pub(super) eos: Option<u32>,
    pub(super) bos: Option<u32>,
}

/// Reads and checks a folder's configuration.
pub(super) fn read(folder: &Path) -> Result<(ModelConfig, ConfigTokens), ModelError> {
    let path = folder.join("config.json");
    // The architecture is looked at first: other architectures may give other keys other types.
    #[derive(Deserialize)]
    struct Kind {
        model_type: Option<String>,
    }
    let kind: Kind = side_file::parse(&path)?.ok_or_else(|| ModelError::Missing { path: path.clone() })?;
    let found = kind.model_type.unwrap_or_else(|| "(no model_type)".into());
    if found != "llama" {
        return Err(ModelError::Architecture { path, found, supported: Architecture::SUPPORTED });
    }
    let raw: Raw = side_file::parse(&path)?.ok_or_else(|| ModelError::Missing { path: path.clone() })?;
    refuse_variants(&path, &raw)?;

    let hidden = needed(&path, "hidden_size", raw.hidden_size)?;
    let heads = needed(&path, "num_attention_heads", raw.num_attention_heads)?;
    let head_dim = match raw.head_dim {
        Some(width) => width,
        None if heads > 0 && hidden.is_multiple_of(heads) => hidden / heads,
        None => {
            let problem = format!("{hidden} does not divide into {heads} heads");
            return Err(ModelError::config(&path, "hidden_size", problem));
        }
    };
    let config = ModelConfig {
        architecture: Architecture::Llama,
        hidden,
        layers: needed(&path, "num_hidden_layers", raw.num_hidden_layers)?,
        heads,
        kv_heads: raw.num_key_value_heads.unwrap_or(heads),
        head_dim,
        intermediate: needed(&path, "intermediate_size", raw.intermediate_size)?,
        vocab: needed(&path, "vocab_size", raw.vocab_size)?,
        norm_eps: needed(&path, "rms_norm_eps", raw.rms_norm_eps)? as f32,
        rope: rope(&path, &raw)?,
        tied_head: raw.tie_word_embeddings.unwrap_or(false),
        max_positions: needed(&path, "max_position_embeddings", raw.max_position_embeddings)?,
    };
    config.check(&path)?;
    let tokens = ConfigTokens {
        eos: token(&path, "eos_token_id", raw.eos_token_id, config.vocab)?,
        bos: token(&path, "bos_token_id", raw.bos_token_id, config.vocab)?,
    };
    Ok((config, tokens))
}

fn needed<T>(path: &Path, key: &str, value: Option<T>) -> Result<T, ModelError> {
    value.ok_or_else(|| ModelError::config(path, key, "is missing"))
}

fn token(path: &Path, key: &str, id: Option<OneOrMany>, vocab: usize) -> Result<Option<u32>, ModelError> {
    match id.and_then(|id| id.first()) {
        Some(id) if id >= vocab as u64 => {
            Err(ModelError::TokenId { path: path.into(), key: key.into(), id, size: vocab })
        }
        id => Ok(id.map(|id| id as u32)),
    }
}

/// Settings under which the arithmetic would be another one.
fn refuse_variants(path: &Path, raw: &Raw) -> Result<(), ModelError> {
    for (key, value) in [("attention_bias", raw.attention_bias), ("mlp_bias", raw.mlp_bias)] {
        if value == Some(true) {
            let problem = "true is not supported for llama models";
            return Err(ModelError::config(path, key, problem));
        }
    }
    match raw.hidden_act.as_deref() {
        None | Some("silu") => Ok(()),
        Some(other) => {
            let problem = format!("`{other}` is not supported; supported: silu");
            Err(ModelError::config(path, "hidden_act", problem))
        }
    }
}

fn rope(path: &Path, raw: &Raw) -> Result<Rope, ModelError> {
    let (key, settings) = match (&raw.rope_parameters, &raw.rope_scaling) {
        (Some(settings), _) => ("rope_parameters", Some(settings)),
        (None, settings) => ("rope_scaling", settings.as_ref()),
    };
    let theta = settings.and_then(|settings| settings.rope_theta).or(raw.rope_theta).unwrap_or(10_000.0);
    let Some(settings) = settings else {
        return Ok(Rope { theta, scaling: None });
    };
    let rope_type = settings.rope_type.as_ref().or(settings.old_type.as_ref());
    let scaling = match rope_type.map(String::as_str) {
        None | Some("default") => None,
        Some("llama3") => {
            let number = |name: &str, value: Option<f64>| needed(path, &format!("{key}.{name}"), value);
            Some(Llama3Scaling {
                factor: number("factor", settings.factor)?,
                low_freq: number("low_freq_factor", settings.low_freq_factor)?,
                high_freq: number("high_freq_factor", settings.high_freq_factor)?,
                original_positions: number(
                    "original_max_position_embeddings",
                    settings.original_max_position_embeddings,
                )?,
            })
        }
        Some(other) => {
            let problem = format!("`{other}` is not supported; supported: default, llama3");
            let key = format!("{key}.rope_type");
            return Err(ModelError::config(path, &key, problem));
        }
    };
    Ok(Rope { theta, scaling })
}
