//! A byte-level tokenizer without merges: every byte a token.

use serde_json::{Value, json};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

use crate::text::TextError;
use crate::text::byte_bpe::{ByteBpe, PreTokenizer, TokenKind};

const CONTROL: [&str; 3] = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
/// End of an answer.
pub(super) const EOS: u32 = 2;
/// Tokens there are.
pub(super) const TOKENS: usize = CONTROL.len() + 256;

/// Contents of `tokenizer.json` and `tokenizer_config.json`.
pub(super) fn files() -> Result<(String, Value), TextError> {
    let mut bytes: Vec<char> = ByteLevel::alphabet().into_iter().collect();
    bytes.sort_unstable();
    let tokens: Vec<String> = CONTROL.map(String::from).into_iter().chain(bytes.iter().map(char::to_string)).collect();
    let mut kinds = vec![TokenKind::Ordinary; tokens.len()];
    kinds[..CONTROL.len()].fill(TokenKind::Control);
    let parts = ByteBpe { tokens, kinds, merges: Vec::new(), pre_tokenizer: PreTokenizer::Gpt2 };
    let tokenizer = parts.build()?.to_string(true);
    let tokenizer = tokenizer.map_err(|error| TextError::Tokenizer { problem: error.to_string() })?;
    let template = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + \
                    '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
    Ok((tokenizer, json!({ "eos_token": CONTROL[2], "add_bos_token": false, "chat_template": template })))
}
