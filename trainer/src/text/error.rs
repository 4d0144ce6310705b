//! What can go wrong between text and token ids.

/// A tokenizer or chat template that cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The model has no chat template.
    #[error(
        "the model has no chat template; use rows with `prompt` and `completion`, or a model that carries a template"
    )]
    NoTemplate,
    /// The tokenizer cannot be built or used.
    #[error("the tokenizer cannot be used: {problem}")]
    Tokenizer {
        /// What the tokenizer said.
        problem: String,
    },
    /// The template does not compile.
    #[error("the chat template does not compile: {problem}")]
    TemplateSyntax {
        /// Where and why.
        problem: String,
    },
    /// The template ran into an error.
    #[error("the chat template failed: {problem}")]
    TemplateFailed {
        /// Where and why.
        problem: String,
    },
    /// The template itself refused the messages.
    #[error("the chat template refuses these messages: {reason}")]
    TemplateRefused {
        /// What the template said.
        reason: String,
    },
    /// The template did not come to an end within its budget.
    #[error("the chat template ran out of its budget of {fuel} steps; it loops or builds an enormous text")]
    TemplateBudget {
        /// The budget.
        fuel: u64,
    },
}
