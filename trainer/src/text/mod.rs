//! Text to token ids and back, and the chat template that turns messages into text.

mod error;
mod message;
mod template;

pub use error::TextError;
pub use message::Message;
pub use template::ChatTemplate;

/// A model's tokenizer with its special tokens and chat template.
pub struct TextModel {
    template: Option<ChatTemplate>,
    eos: Option<u32>,
    bos: Option<u32>,
}

impl TextModel {
    /// Token ids of `text`. With `specials`, tokens such as `<|im_end|>` written in the text
    /// become their single id; without, they are ordinary characters. Never adds BOS or EOS.
    pub fn encode(&self, _text: &str, _specials: bool) -> Result<Vec<u32>, TextError> {
        Err(TextError::NoTemplate)
    }

    /// Text of `ids`, special tokens included.
    pub fn decode(&self, _ids: &[u32]) -> Result<String, TextError> {
        Err(TextError::NoTemplate)
    }

    /// The model's chat template, if it came with one.
    pub fn chat_template(&self) -> Option<&ChatTemplate> {
        self.template.as_ref()
    }

    /// The token that ends an answer.
    pub fn eos(&self) -> Option<u32> {
        self.eos
    }

    /// The token that starts a text.
    pub fn bos(&self) -> Option<u32> {
        self.bos
    }

    /// Number of token ids the tokenizer can produce (highest id + 1).
    pub fn size(&self) -> usize {
        0
    }
}
