//! Tokenizer and chat template out of GGUF metadata.

use super::GgufError;
use super::metadata::{Metadata, missing};
use crate::model_file::ModelError;
use crate::text::byte_bpe::{ByteBpe, PreTokenizer, TokenKind};
use crate::text::{ChatTemplate, SpecialTokens, TextError, TextModel};
use std::collections::HashSet;
use std::path::Path;

/// Builds the text side; `rows` is the number of embedding rows.
pub(super) fn read(path: &Path, metadata: &Metadata, rows: usize) -> Result<TextModel, ModelError> {
    let gguf = |source| ModelError::Gguf { path: path.into(), source };
    let text = |source: TextError| ModelError::Text { path: path.into(), source };
    let parts = read_parts(metadata).map_err(gguf)?;
    let size = parts.tokens.len();
    if size != rows {
        return Err(ModelError::VocabularySize { path: path.into(), tokens: size, rows });
    }
    let id = |key: &str| match metadata.unsigned(key).map_err(gguf)? {
        Some(id) if id >= size as u64 => Err(ModelError::TokenId { path: path.into(), key: key.into(), id, size }),
        id => Ok(id.map(|id| id as u32)),
    };
    let eos = id("tokenizer.ggml.eos_token_id")?;
    let bos = id("tokenizer.ggml.bos_token_id")?;
    for key in ["unknown_token_id", "padding_token_id", "seperator_token_id"] {
        id(&format!("tokenizer.ggml.{key}"))?;
    }
    let adds_bos = match metadata.bool("tokenizer.ggml.add_bos_token").map_err(gguf)? {
        Some(adds) => adds,
        None => parts.pre_tokenizer.adds_bos(),
    };
    let spelling = |id: Option<u32>| id.map(|id| parts.tokens[id as usize].clone());
    let template = match metadata.string("tokenizer.chat_template").map_err(gguf)? {
        Some(source) => {
            Some(ChatTemplate::new(source, spelling(bos).as_deref(), spelling(eos).as_deref()).map_err(text)?)
        }
        None => None,
    };
    let tokenizer = parts.build().map_err(text)?;
    let specials = SpecialTokens { eos, bos, adds_bos: adds_bos && bos.is_some() };
    Ok(TextModel::new(tokenizer, specials, template))
}

/// The vocabulary as the file has it, checked for what would break or bend the tokenizer.
pub(super) fn read_parts(metadata: &Metadata) -> Result<ByteBpe, GgufError> {
    let broken = |problem| GgufError::Tokenizer { problem };
    let model = "tokenizer.ggml.model";
    match metadata.string(model)?.ok_or_else(|| missing(model))? {
        "gpt2" => {}
        other => {
            return Err(broken(format!("model `{other}` is not supported; supported: gpt2 (byte-level BPE)")));
        }
    }
    let key = "tokenizer.ggml.pre";
    let name = metadata.string(key)?.ok_or_else(|| missing(key))?;
    let pre_tokenizer = PreTokenizer::from_gguf_name(name).ok_or_else(|| {
        broken(format!("pre-tokenizer `{name}` is not supported; supported: {}", PreTokenizer::GGUF_NAMES))
    })?;
    let key = "tokenizer.ggml.tokens";
    let tokens = metadata.strings(key)?.ok_or_else(|| missing(key))?;
    let mut seen = HashSet::new();
    for (id, token) in tokens.iter().enumerate() {
        if token.is_empty() {
            return Err(broken(format!("token {id} is empty")));
        }
        if !seen.insert(token.as_str()) {
            return Err(GgufError::Duplicate { kind: "token", name: token.clone() });
        }
    }
    let key = "tokenizer.ggml.token_type";
    let types = metadata.integers(key)?.ok_or_else(|| missing(key))?;
    if types.len() != tokens.len() {
        return Err(broken(format!("{} token types for {} tokens", types.len(), tokens.len())));
    }
    let key = "tokenizer.ggml.merges";
    let lines = metadata.strings(key)?.ok_or_else(|| missing(key))?;
    let mut merges = Vec::new();
    for (rank, line) in lines.iter().enumerate() {
        // Tokens hold no plain space (byte-level BPE spells it `Ġ`), so the first one separates.
        let pair = line.split_once(' ').filter(|(left, right)| {
            seen.contains(left) && seen.contains(right) && seen.contains(format!("{left}{right}").as_str())
        });
        let Some((left, right)) = pair else {
            return Err(broken(format!(
                "merge {rank} (`{}`) does not join two tokens into a third",
                line.chars().take(80).collect::<String>()
            )));
        };
        merges.push((left.to_string(), right.to_string()));
    }
    Ok(ByteBpe {
        tokens: tokens.to_vec(),
        kinds: types.iter().map(|&kind| TokenKind::from_ggml(kind)).collect(),
        merges,
        pre_tokenizer,
    })
}
