//! Text to token ids and back, and the chat template that turns messages into text.

pub(crate) mod byte_bpe;
mod error;
mod guard;
mod message;
mod model;
mod template;
mod tojson;
pub(crate) mod tokenizer_json;

pub use error::TextError;
pub use message::Message;
pub use model::{SpecialTokens, TextModel};
pub use template::ChatTemplate;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tiny;
