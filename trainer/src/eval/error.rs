//! What can be wrong with an evaluation, and what to do about it.

use crate::architecture::ArchitectureError;
use crate::text::TextError;

/// An evaluation that cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The model file carries no chat template.
    #[error(
        "the model has no chat template, so a question cannot be put to it: use a chat model, or data with `input_ids` and \
         `labels`"
    )]
    NoChatTemplate,
    /// The chat template renders a question to no token.
    #[error("the chat template renders a question to no token: the model file is damaged, download it again")]
    NoPrompt,
    /// A token that belongs to the prompt and to an answer.
    #[error(
        "a token reaches from the prompt into an answer, so the answer cannot be scored: it may begin with white space; \
         if not, the template does not fit this tokenizer, use the model file they came in"
    )]
    Seam,
    /// An answer renders to no token.
    #[error("an answer to choose from has no token of its own: every answer needs some text")]
    EmptyAnswer,
    /// Nothing to predict.
    #[error("a text of {tokens} tokens has nothing to predict: give at least two tokens")]
    TooShort {
        /// Tokens given.
        tokens: usize,
    },
    /// A log-probability is NaN or infinite.
    #[error(
        "the model gives a log-probability that is not a number: the adapter or the model file is damaged; evaluate the \
         model without --adapter to see which"
    )]
    NotANumber,
    /// Tokenizer or template.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The network.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
}
