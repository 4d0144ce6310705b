//! What can be wrong with a data file, and what to do about it.

use crate::text::TextError;
use std::path::PathBuf;

/// A data file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file cannot be opened or read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// No row in the file.
    #[error("{}: no rows; write one JSON object a line with `messages`, `prompt` and `completion`, or `input_ids` and `labels`", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// One line is at fault.
    #[error("{}, line {line}: {problem}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: RowError,
    },
}

/// What can be wrong with one line.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    /// More bytes than any sensible row; refused before it is parsed or tokenised.
    #[error("longer than {limit} bytes; split the row")]
    LineTooLong {
        /// Most bytes a line may have.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("not valid UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// Not JSON, or a field of the wrong type.
    #[error("not a valid row: {}", json_problem(.0))]
    Malformed(serde_json::Error),
    /// None or more than one of the three row shapes.
    #[error(
        "a row needs exactly one of `messages`, `prompt` with `completion`, or `input_ids` with `labels`; this one has {found}"
    )]
    Shape {
        /// The fields that are there.
        found: String,
    },
    /// Text, but no tokenizer to turn it into ids.
    #[error(
        "the row is text, but the model folder has no tokenizer.json; add it, or use rows with `input_ids` and `labels`"
    )]
    NoTokenizer,
    /// `input_ids` and `labels` of different length.
    #[error("{ids} `input_ids` but {labels} `labels`; they must pair up (labels are not shifted)")]
    Unpaired {
        /// Number of ids.
        ids: usize,
        /// Number of labels.
        labels: usize,
    },
    /// No token at all.
    #[error("the row has no tokens")]
    NoTokens,
    /// An id the model has no embedding for.
    #[error(
        "token {index} has id {id}, but the model's vocabulary has {vocab}; the row was made with another tokenizer"
    )]
    IdOutOfRange {
        /// Position in the row.
        index: usize,
        /// The id.
        id: u32,
        /// Number of ids.
        vocab: usize,
    },
    /// A label that is neither an id nor -100.
    #[error("label {index} is {label}; it must be -100 (not trained) or an id below {vocab}")]
    LabelOutOfRange {
        /// Position in the row.
        index: usize,
        /// The label.
        label: i32,
        /// Number of ids.
        vocab: usize,
    },
    /// More tokens than allowed.
    #[error("{tokens} tokens, at most {limit} are allowed; shorten the row or raise --max-tokens")]
    TooManyTokens {
        /// Tokens of the row.
        tokens: usize,
        /// The limit in force.
        limit: usize,
    },
    /// A text row that would train nothing.
    #[error("nothing to train: {why}")]
    AllMasked {
        /// Why no token is a target.
        why: &'static str,
    },
    /// The tokens before an answer are not the tokens the model would have been prompted with.
    #[error("the answer cannot be told from its prompt: {why}")]
    NotAPrefix {
        /// Where the two part and what to do.
        why: &'static str,
    },
    /// Tokenizer or template failed.
    #[error("{0}")]
    Text(#[from] TextError),
}

/// What the JSON reader says of a text of one line: without the line, which is always 1 and not the file's.
pub(crate) fn json_problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.strip_suffix(&format!(" at line {} column {}", error.line(), error.column())) {
        Some(problem) => format!("{problem}, at column {}", error.column()),
        None => text,
    }
}
