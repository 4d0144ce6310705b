//! Finds the text model in a configuration: the file itself, or `text_config` of a multimodal one.

use crate::model_file::ModelError;
use crate::registry::Architecture;
use serde_json::{Map, Value};
use std::path::Path;

/// Keys that a multimodal configuration may have outside its `text_config`.
const OUTER: [&str; 3] = ["tie_word_embeddings", "eos_token_id", "bos_token_id"];

/// The architecture and the object that describes the text model.
pub(super) fn find(path: &Path, json: &[u8]) -> Result<(Architecture, Value), ModelError> {
    let whole: Map<String, Value> = serde_json::from_slice(json).map_err(|error| ModelError::Json {
        path: path.into(),
        problem: format!("{error}; the file is damaged, fetch it again"),
    })?;
    let text = match whole.get("text_config") {
        Some(Value::Object(text)) => merged(path, &whole, text)?,
        _ => whole,
    };
    match text.get("model_type") {
        Some(Value::String(kind)) => match Architecture::of_model_type(kind) {
            Some(architecture) => Ok((architecture, Value::Object(text))),
            None => Err(unsupported(path, kind)),
        },
        _ => Err(unsupported(path, "(no model_type)")),
    }
}

fn unsupported(path: &Path, found: &str) -> ModelError {
    ModelError::Architecture { path: path.into(), found: found.into(), supported: Architecture::SUPPORTED }
}

/// `text_config` with what only the outer object says.
fn merged(
    path: &Path,
    whole: &Map<String, Value>,
    text: &Map<String, Value>,
) -> Result<Map<String, Value>, ModelError> {
    let mut merged = text.clone();
    if !merged.contains_key("model_type") {
        merged.extend(whole.get("model_type").map(|kind| ("model_type".to_owned(), kind.clone())));
    }
    for key in OUTER {
        let outer = whole.get(key).filter(|value| !value.is_null());
        match (outer, text.get(key).filter(|value| !value.is_null())) {
            (Some(outer), None) => {
                merged.insert(key.into(), outer.clone());
            }
            (Some(outer), Some(inner)) if key == "tie_word_embeddings" && outer != inner => {
                let problem = format!(
                    "is {outer} in the file and {inner} in text_config; set both to whether the file lacks lm_head.weight"
                );
                return Err(ModelError::config(path, key, problem));
            }
            _ => {}
        }
    }
    Ok(merged)
}
