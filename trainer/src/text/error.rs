//! What can go wrong between text and token ids.

/// A tokenizer or chat template that cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The model has no chat template.
    #[error("the model has no chat template; use rows with `prompt` and `completion`, or a model that carries a template")]
    NoTemplate,
}
