//! Text to ids and back.

use super::guard::guarded;
use super::{ChatTemplate, TextError};
use std::sync::OnceLock;
use tokenizers::Tokenizer;

/// Token ids with a role of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpecialTokens {
    /// Ends an answer.
    pub eos: Option<u32>,
    /// Starts a text.
    pub bos: Option<u32>,
    /// Whether the model expects plain text to start with BOS.
    pub adds_bos: bool,
}

/// A model's tokenizer with its special tokens and chat template.
pub struct TextModel {
    tokenizer: Tokenizer,
    /// The same tokenizer blind to special tokens; made when first asked for.
    literal: OnceLock<Tokenizer>,
    specials: SpecialTokens,
    template: Option<ChatTemplate>,
}

impl TextModel {
    /// Puts the parts together. Truncation and padding that a tokenizer file may ask for are
    /// dropped: a training text is never cut or filled silently.
    pub fn new(mut tokenizer: Tokenizer, specials: SpecialTokens, template: Option<ChatTemplate>) -> TextModel {
        tokenizer.with_padding(None);
        // Removing a truncation cannot fail; only setting one is checked.
        let _ = tokenizer.with_truncation(None);
        TextModel { tokenizer, literal: OnceLock::new(), specials, template }
    }

    /// Token ids of `text`. With `specials`, tokens such as `<|im_end|>` written in the text
    /// become their single id; without, they are ordinary characters. Never adds BOS or EOS.
    pub fn encode(&self, text: &str, specials: bool) -> Result<Vec<u32>, TextError> {
        let tokenizer = if specials {
            &self.tokenizer
        } else {
            self.literal.get_or_init(|| {
                let mut literal = self.tokenizer.clone();
                literal.set_encode_special_tokens(true);
                literal
            })
        };
        let encoding = guarded(|| tokenizer.encode_fast(text, false))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Text of `ids`, special tokens included.
    pub fn decode(&self, ids: &[u32]) -> Result<String, TextError> {
        guarded(|| self.tokenizer.decode(ids, false))
    }

    /// The model's chat template, if it came with one.
    pub fn chat_template(&self) -> Option<&ChatTemplate> {
        self.template.as_ref()
    }

    /// The token that ends an answer.
    pub fn eos(&self) -> Option<u32> {
        self.specials.eos
    }

    /// The token that starts a text.
    pub fn bos(&self) -> Option<u32> {
        self.specials.bos
    }

    /// Whether the model expects plain text (not a rendered chat) to start with BOS.
    pub fn adds_bos(&self) -> bool {
        self.specials.adds_bos
    }

    /// The id of a token by its exact spelling.
    pub fn token_id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }

    /// One more than the highest id the tokenizer knows.
    pub fn size(&self) -> usize {
        let highest = self.tokenizer.get_vocab(true).into_values().max();
        highest.map_or(0, |id| id as usize + 1)
    }
}
