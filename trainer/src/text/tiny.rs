//! A small byte-level tokenizer for tests.

use super::byte_bpe::{ByteBpe, PreTokenizer, TokenKind};
use super::{ChatTemplate, SpecialTokens, TextModel};

/// The template of SmolLM2-Instruct without its default system message.
pub(crate) const CHATML: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/// Ids 0..=2 are `<|endoftext|>`, `<|im_start|>`, `<|im_end|>` (EOS); then printable ASCII, space,
/// line feed, and the joins of two line feeds and of `he`.
pub(crate) fn parts() -> ByteBpe {
    let control = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
    let mut tokens: Vec<String> = control.map(String::from).into();
    tokens.extend(('!'..='~').map(String::from));
    tokens.extend(["Ġ", "Ċ", "ĊĊ", "he"].map(String::from));
    let mut kinds = vec![TokenKind::Ordinary; tokens.len()];
    kinds[..3].fill(TokenKind::Control);
    let pair = |left: &str, right: &str| (left.to_string(), right.to_string());
    ByteBpe { tokens, kinds, merges: vec![pair("Ċ", "Ċ"), pair("h", "e")], pre_tokenizer: PreTokenizer::SmolLm }
}

/// The tokenizer with a chat template.
pub(crate) fn model(template: &str) -> TextModel {
    let specials = SpecialTokens { eos: Some(2), bos: Some(1), adds_bos: false };
    let template = ChatTemplate::new(template, Some("<|im_start|>"), Some("<|im_end|>"));
    TextModel::new(parts().build().unwrap(), specials, Some(template.unwrap()))
}
