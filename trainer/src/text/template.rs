//! Chat templates: the Jinja text a model carries, run under a budget.

use super::{Message, TextError};

/// A compiled chat template.
pub struct ChatTemplate {}

impl ChatTemplate {
    /// Text of the conversation; with `add_generation_prompt` it ends where the assistant's next
    /// answer would begin.
    pub fn render(
        &self,
        _messages: &[Message],
        _add_generation_prompt: bool,
    ) -> Result<String, TextError> {
        Err(TextError::NoTemplate)
    }
}
