//! The network's configuration from `config.json`.

use super::raw_config::{OneOrMany, RawConfig};
use super::{side_file, text_config};
use crate::model_file::ModelError;
use crate::registry::{Architecture, DeltaNet, Llama3Scaling, ModelConfig, Rope};
use std::path::{Path, PathBuf};

/// Every how many layers one attends, in hybrid configurations that do not say.
const ATTENTION_INTERVAL: usize = 4;

/// Special ids that `config.json` names; held against the vocabulary.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConfigTokens {
    pub(super) eos: Option<u32>,
    pub(super) bos: Option<u32>,
}

/// Reads and checks the configuration of a model that need not have weights.
///
/// `path` is a Hugging Face folder or a `config.json` itself.
///
/// # Errors
/// An unreadable or damaged file, an architecture or a setting that is not supported.
pub fn read_config(path: &Path) -> Result<ModelConfig, ModelError> {
    let file: PathBuf = if path.is_dir() { path.join("config.json") } else { path.into() };
    read_file(&file).map(|(config, _)| config)
}

/// Checks the text of a `config.json`; `path` names it in errors.
///
/// # Errors
/// Those of [`read_config`].
pub fn parse_config(path: &Path, json: &[u8]) -> Result<ModelConfig, ModelError> {
    parse(path, json).map(|(config, _)| config)
}

/// Reads and checks a folder's configuration.
pub(super) fn read(folder: &Path) -> Result<(ModelConfig, ConfigTokens), ModelError> {
    read_file(&folder.join("config.json"))
}

fn read_file(path: &Path) -> Result<(ModelConfig, ConfigTokens), ModelError> {
    let json = side_file::bytes(path)?.ok_or_else(|| ModelError::Missing { path: path.into() })?;
    parse(path, &json)
}

fn parse(path: &Path, json: &[u8]) -> Result<(ModelConfig, ConfigTokens), ModelError> {
    // The architecture is looked at first: other architectures may give other keys other types.
    let (architecture, text) = text_config::find(path, json)?;
    let raw: RawConfig = serde_json::from_value(text)
        .map_err(|error| ModelError::Json { path: path.into(), problem: format!("{error}; mend that value") })?;
    refuse_variants(path, architecture, &raw)?;

    let hidden = needed(path, "hidden_size", raw.hidden_size)?;
    let heads = needed(path, "num_attention_heads", raw.num_attention_heads)?;
    let head_dim = match raw.head_dim {
        Some(width) => width,
        None if heads > 0 && hidden.is_multiple_of(heads) => hidden / heads,
        None => {
            let problem = format!("{hidden} does not divide into {heads} heads");
            return Err(ModelError::config(path, "hidden_size", problem));
        }
    };
    let layers = needed(path, "num_hidden_layers", raw.num_hidden_layers)?;
    let config = ModelConfig {
        architecture,
        hidden,
        layers,
        heads,
        kv_heads: raw.num_key_value_heads.unwrap_or(heads),
        head_dim,
        rotary_dim: rotary_dim(path, architecture, &raw, head_dim)?,
        intermediate: needed(path, "intermediate_size", raw.intermediate_size)?,
        vocab: needed(path, "vocab_size", raw.vocab_size)?,
        norm_eps: needed(path, "rms_norm_eps", raw.rms_norm_eps)? as f32,
        rope: rope(path, architecture, &raw)?,
        tied_head: raw.tie_word_embeddings.unwrap_or(false),
        max_positions: needed(path, "max_position_embeddings", raw.max_position_embeddings)?,
        delta_net: delta_net(path, architecture, &raw, layers)?,
    };
    config.check(path)?;
    let tokens = ConfigTokens {
        eos: token(path, "eos_token_id", raw.eos_token_id, config.vocab)?,
        bos: token(path, "bos_token_id", raw.bos_token_id, config.vocab)?,
    };
    Ok((config, tokens))
}

fn needed<T>(path: &Path, key: &str, value: Option<T>) -> Result<T, ModelError> {
    value.ok_or_else(|| ModelError::config(path, key, "is missing; fetch the model's own config.json"))
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
fn refuse_variants(path: &Path, architecture: Architecture, raw: &RawConfig) -> Result<(), ModelError> {
    let name = architecture.description().name;
    // Qwen2 has its biases without saying so, and only on q, k and v.
    for (key, value) in [("attention_bias", raw.attention_bias), ("mlp_bias", raw.mlp_bias)] {
        if value == Some(true) {
            let problem = format!("true is not supported for {name} models; use a model without these biases");
            return Err(ModelError::config(path, key, problem));
        }
    }
    if raw.use_sliding_window == Some(true) {
        let problem = "true is not supported; for sequences shorter than sliding_window set it to false, which then \
                       computes the same";
        return Err(ModelError::config(path, "use_sliding_window", problem));
    }
    if !architecture.description().hybrid
        && let Some(other) = raw.layer_types.iter().flatten().find(|kind| *kind != "full_attention")
    {
        let problem = format!("`{other}` is not supported for {name} models; supported: full_attention");
        return Err(ModelError::config(path, "layer_types", problem));
    }
    match raw.hidden_act.as_deref() {
        None | Some("silu") => Ok(()),
        Some(other) => {
            let problem = format!("`{other}` is not supported; supported: silu");
            Err(ModelError::config(path, "hidden_act", problem))
        }
    }
}

/// The recurrent layers of a hybrid architecture.
fn delta_net(
    path: &Path,
    architecture: Architecture,
    raw: &RawConfig,
    layers: usize,
) -> Result<Option<DeltaNet>, ModelError> {
    if !architecture.description().hybrid {
        return Ok(None);
    }
    let recurrent = match &raw.layer_types {
        Some(kinds) => kinds.iter().map(|kind| is_recurrent(path, kind)).collect::<Result<Vec<_>, _>>()?,
        None => {
            let interval = raw.full_attention_interval.unwrap_or(ATTENTION_INTERVAL);
            // A count no model has is refused with the other sizes.
            (1..=layers.min(1 << 16)).map(|layer| interval == 0 || layer % interval != 0).collect()
        }
    };
    Ok(Some(DeltaNet {
        recurrent,
        key_heads: needed(path, "linear_num_key_heads", raw.linear_num_key_heads)?,
        value_heads: needed(path, "linear_num_value_heads", raw.linear_num_value_heads)?,
        key_dim: needed(path, "linear_key_head_dim", raw.linear_key_head_dim)?,
        value_dim: needed(path, "linear_value_head_dim", raw.linear_value_head_dim)?,
        conv_kernel: needed(path, "linear_conv_kernel_dim", raw.linear_conv_kernel_dim)?,
    }))
}

fn is_recurrent(path: &Path, kind: &str) -> Result<bool, ModelError> {
    match kind {
        "linear_attention" => Ok(true),
        "full_attention" => Ok(false),
        other => {
            let problem = format!("`{other}` is not supported; supported: linear_attention, full_attention");
            Err(ModelError::config(path, "layer_types", problem))
        }
    }
}

/// Elements of a head that rope turns.
fn rotary_dim(path: &Path, architecture: Architecture, raw: &RawConfig, head_dim: usize) -> Result<usize, ModelError> {
    let own = architecture.description().rotary_factor;
    let settings = raw.rope_parameters.as_ref().or(raw.rope_scaling.as_ref());
    let nested = settings.and_then(|rope| rope.partial_rotary_factor);
    let factor = nested.or(raw.partial_rotary_factor).unwrap_or(own);
    let partial = architecture.description().hybrid;
    if !(factor > 0.0 && factor <= 1.0) || (!partial && factor != 1.0) {
        let supported = if partial { "a share above 0 and up to 1" } else { "1, the whole head" };
        let problem = format!("{factor} is not supported; supported: {supported}");
        return Err(ModelError::config(path, "partial_rotary_factor", problem));
    }
    Ok((head_dim as f64 * factor) as usize)
}

fn rope(path: &Path, architecture: Architecture, raw: &RawConfig) -> Result<Rope, ModelError> {
    let (key, settings) = match (&raw.rope_parameters, &raw.rope_scaling) {
        (Some(settings), _) => ("rope_parameters", Some(settings)),
        (None, settings) => ("rope_scaling", settings.as_ref()),
    };
    let given = settings.and_then(|settings| settings.rope_theta).or(raw.rope_theta);
    let theta = needed(path, "rope_theta", given.or(architecture.description().rope_theta))?;
    let Some(settings) = settings else {
        return Ok(Rope { theta, scaling: None });
    };
    let scaling = match settings.kind() {
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
            let problem = format!(
                "`{other}` is not supported; supported: default, llama3 (for yarn, remove the scaling and stay within \
                 the original context)"
            );
            let key = format!("{key}.rope_type");
            return Err(ModelError::config(path, &key, problem));
        }
    };
    Ok(Rope { theta, scaling })
}
