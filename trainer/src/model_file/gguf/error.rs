//! Rules of the format that a file broke.

/// A GGUF file that is damaged, hostile or of an unsupported kind.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum GgufError {
    /// A version this reader does not know.
    #[error("GGUF version {found} is not supported (2 and 3 are){hint}; convert the model again with current tools")]
    Version {
        /// The number in the file.
        found: u32,
        /// A guess at why, or nothing.
        hint: &'static str,
    },
    /// The file ends inside its header.
    #[error("the file ends at byte {len}, inside {what}: it is truncated or damaged; fetch it again")]
    Truncated {
        /// What was being read.
        what: String,
        /// Length of the file in bytes.
        len: u64,
    },
    /// A count that the rest of the file cannot hold.
    #[error("{what} claims {count} entries, but only {left} bytes of the file are left; the file is damaged")]
    Count {
        /// What was counted.
        what: String,
        /// The number in the file.
        count: u64,
        /// Bytes between here and the end of the file.
        left: u64,
    },
    /// A name or key that is empty, too long or not UTF-8.
    #[error("{what}: {problem}; the file is damaged")]
    Name {
        /// What was being read.
        what: String,
        /// The rule that was broken.
        problem: String,
    },
    /// Two entries of one name.
    #[error("{kind} `{name}` appears twice; the file is damaged")]
    Duplicate {
        /// `key`, `tensor` or `token`.
        kind: &'static str,
        /// The repeated name.
        name: String,
    },
    /// A metadata value of a type the format does not have, or nested too deep.
    #[error("key `{key}` has a value of {problem}; the file is damaged")]
    ValueType {
        /// The key.
        key: String,
        /// What was found.
        problem: String,
    },
    /// A metadata value that is there but of the wrong type.
    #[error("key `{key}` should hold {expected}, it holds {found}")]
    WrongType {
        /// The key.
        key: String,
        /// What is needed.
        expected: &'static str,
        /// What the file has.
        found: String,
    },
    /// A metadata key the model cannot do without.
    #[error("key `{key}` is missing; convert the model again with current tools")]
    KeyMissing {
        /// The key.
        key: String,
    },
    /// Padding unit of the data section.
    #[error("key `general.alignment` is {found}; only powers of two up to 65536 are allowed")]
    Alignment {
        /// What the file has.
        found: String,
    },
    /// Dimension count or extents of a tensor.
    #[error("tensor `{name}`: {problem}; the file is damaged")]
    Dimensions {
        /// Name in the file.
        name: String,
        /// The rule that was broken.
        problem: String,
    },
    /// An element type that cannot be dequantised here.
    #[error("tensor `{name}` has element type {found}; supported: {supported}")]
    ElementType {
        /// Name in the file.
        name: String,
        /// Number or name of the type.
        found: String,
        /// What would work.
        supported: &'static str,
    },
    /// Tensor data that is misplaced.
    #[error("tensor `{name}`: {problem}; the file is truncated or damaged, fetch it again")]
    Placement {
        /// Name in the file.
        name: String,
        /// The rule that was broken.
        problem: String,
    },
    /// One part of a model split over several files.
    #[error("this is one of {parts} parts of a split model; merge them into one file first (llama-gguf-split --merge)")]
    Split {
        /// How many parts there are.
        parts: u64,
    },
    /// A tokenizer of a kind that cannot be built.
    #[error("tokenizer: {problem}")]
    Tokenizer {
        /// What is wrong and what would work.
        problem: String,
    },
}
