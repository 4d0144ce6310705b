//! Tokenizer and chat template of a folder.

use super::config::ConfigTokens;
use super::side_file;
use crate::model_file::ModelError;
use crate::registry::ModelConfig;
use crate::text::{ChatTemplate, SpecialTokens, TextError, TextModel, tokenizer_json};
use serde::Deserialize;
use std::path::Path;
use tokenizers::Tokenizer;

/// The keys of `tokenizer_config.json` that matter.
#[derive(Default, Deserialize)]
struct Raw {
    eos_token: Option<Spelling>,
    bos_token: Option<Spelling>,
    add_bos_token: Option<bool>,
    chat_template: Option<Templates>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Spelling {
    Plain(String),
    Described { content: String },
}

impl Spelling {
    fn text(&self) -> &str {
        match self {
            Spelling::Plain(text) | Spelling::Described { content: text } => text,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Templates {
    One(String),
    Named(Vec<NamedTemplate>),
}

#[derive(Deserialize)]
struct NamedTemplate {
    name: String,
    template: String,
}

impl Templates {
    fn default_one(self) -> Option<String> {
        match self {
            Templates::One(source) => Some(source),
            Templates::Named(list) => {
                list.into_iter().find(|entry| entry.name == "default").map(|entry| entry.template)
            }
        }
    }
}

/// Builds the text side, or `None` for a folder without `tokenizer.json`.
pub(super) fn read(folder: &Path, config: &ModelConfig, named: &ConfigTokens) -> Result<Option<TextModel>, ModelError> {
    let path = folder.join("tokenizer.json");
    let Some(json) = side_file::bytes(&path)? else {
        return Ok(None);
    };
    let text = |path: &Path, source: TextError| ModelError::Text { path: path.into(), source };
    let tokenizer = tokenizer_json::from_bytes(&json).map_err(|error| text(&path, error))?;
    let side = folder.join("tokenizer_config.json");
    let raw: Raw = side_file::parse(&side)?.unwrap_or_default();

    let eos = id(&side, "eos_token", &raw.eos_token, &tokenizer)?.or(named.eos);
    let bos = id(&side, "bos_token", &raw.bos_token, &tokenizer)?.or(named.bos);
    let adds_bos = match (bos, raw.add_bos_token) {
        (None, _) => false,
        (Some(_), Some(adds)) => adds,
        (Some(bos), None) => tokenizer_json::puts_in_front(&tokenizer, bos).map_err(|error| text(&path, error))?,
    };
    let (template_path, source) = template_source(folder, &side, raw.chat_template)?;
    let template = match source {
        Some(source) => {
            let spelling = |id: Option<u32>| id.and_then(|id| tokenizer.id_to_token(id));
            let template = ChatTemplate::new(&source, spelling(bos).as_deref(), spelling(eos).as_deref());
            Some(template.map_err(|error| text(&template_path, error))?)
        }
        None => None,
    };
    let specials = SpecialTokens { eos, bos, adds_bos };
    let model = TextModel::new(tokenizer, specials, template);
    // Embeddings are often padded to a round number of rows; more ids than rows cannot be.
    if model.size() > config.vocab {
        return Err(ModelError::VocabularySize { path, tokens: model.size(), rows: config.vocab });
    }
    Ok(Some(model))
}

fn id(path: &Path, key: &str, spelling: &Option<Spelling>, tokenizer: &Tokenizer) -> Result<Option<u32>, ModelError> {
    let Some(spelling) = spelling else {
        return Ok(None);
    };
    match tokenizer.token_to_id(spelling.text()) {
        Some(id) => Ok(Some(id)),
        None => {
            let problem = format!("`{}` is not a token of tokenizer.json", spelling.text());
            Err(ModelError::config(path, key, problem))
        }
    }
}

/// The template's file and text: `chat_template.jinja` wins over `tokenizer_config.json`.
fn template_source(
    folder: &Path,
    side: &Path,
    inline: Option<Templates>,
) -> Result<(std::path::PathBuf, Option<String>), ModelError> {
    let path = folder.join("chat_template.jinja");
    match side_file::bytes(&path)? {
        None => Ok((side.into(), inline.and_then(Templates::default_one))),
        Some(bytes) => match String::from_utf8(bytes) {
            Ok(source) => Ok((path, Some(source))),
            Err(_) => {
                Err(ModelError::Text { path, source: TextError::TemplateSyntax { problem: "not valid UTF-8".into() } })
            }
        },
    }
}
