//! A byte-level BPE tokenizer from its parts.

use super::TextError;
use super::guard::guarded;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::unicode::NFC;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, SplitDelimiterBehavior, Tokenizer};

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Made of bytes by merges.
    Ordinary,
    /// Has a meaning of its own (`<|im_end|>`) and is no text.
    Control,
    /// Text that is never split.
    UserDefined,
}

impl TokenKind {
    /// ggml's numbers: 3 is control, 4 user-defined; unknown, unused and byte tokens are not found
    /// in text as a whole and need no care.
    pub(crate) fn from_ggml(number: i32) -> TokenKind {
        match number {
            3 => TokenKind::Control,
            4 => TokenKind::UserDefined,
            _ => TokenKind::Ordinary,
        }
    }
}

/// How text is cut into words before merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreTokenizer {
    /// GPT-2's pattern.
    Gpt2,
    /// Every digit alone, then GPT-2's pattern.
    SmolLm,
    /// Llama 3's pattern: up to three digits together; a word that is a token needs no merges.
    Llama3,
    /// Qwen 2's pattern: as Llama 3's with single digits, after Unicode NFC.
    Qwen2,
}

/// The alternatives shared by Llama 3 and Qwen 2, around how many digits go together.
fn llama3_pattern(digits: &str) -> String {
    format!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
}

impl PreTokenizer {
    /// The names understood in `tokenizer.ggml.pre`.
    pub(crate) const GGUF_NAMES: &'static str = "gpt-2, smollm, llama-bpe, qwen2";

    pub(crate) fn from_gguf_name(name: &str) -> Option<PreTokenizer> {
        Some(match name {
            "gpt-2" | "gpt2" => PreTokenizer::Gpt2,
            "smollm" => PreTokenizer::SmolLm,
            "llama-bpe" | "llama3" | "llama-v3" => PreTokenizer::Llama3,
            "qwen2" => PreTokenizer::Qwen2,
            _ => return None,
        })
    }

    /// Whether texts begin with BOS when the file does not say.
    pub(crate) fn adds_bos(self) -> bool {
        self == PreTokenizer::Llama3
    }

    fn build(self) -> Result<PreTokenizerWrapper, tokenizers::Error> {
        let bytes = |pattern| ByteLevel::new(false, true, pattern).into();
        let split = |digits| {
            let pattern = SplitPattern::Regex(llama3_pattern(digits));
            Split::new(pattern, SplitDelimiterBehavior::Isolated, false)
        };
        Ok(match self {
            PreTokenizer::Gpt2 => bytes(true),
            PreTokenizer::SmolLm => Sequence::new(vec![Digits::new(true).into(), bytes(true)]).into(),
            PreTokenizer::Llama3 => Sequence::new(vec![split(r"\p{N}{1,3}")?.into(), bytes(false)]).into(),
            PreTokenizer::Qwen2 => Sequence::new(vec![split(r"\p{N}")?.into(), bytes(false)]).into(),
        })
    }
}

/// Vocabulary, merges and cutting rule.
pub(crate) struct ByteBpe {
    /// Spelling of each id, in byte-level characters; no two equal.
    pub(crate) tokens: Vec<String>,
    /// Kind of each id.
    pub(crate) kinds: Vec<TokenKind>,
    /// Pairs in order of rank; both sides and their joint are tokens.
    pub(crate) merges: Vec<(String, String)>,
    /// The cutting rule.
    pub(crate) pre_tokenizer: PreTokenizer,
}

impl ByteBpe {
    /// Builds the tokenizer.
    pub(crate) fn build(self) -> Result<Tokenizer, TextError> {
        guarded(move || {
            let added = |kind, special| -> Vec<AddedToken> {
                let chosen = self.tokens.iter().zip(&self.kinds);
                chosen
                    .filter(|&(_, &found)| found == kind)
                    .map(|(token, _)| AddedToken::from(token.as_str(), special).normalized(false))
                    .collect()
            };
            let control = added(TokenKind::Control, true);
            let user_defined = added(TokenKind::UserDefined, false);
            let vocab: Vocab = (0..).zip(&self.tokens).map(|(id, token)| (token.clone(), id)).collect();
            let model = BPE::builder()
                .vocab_and_merges(vocab, self.merges)
                .ignore_merges(self.pre_tokenizer == PreTokenizer::Llama3)
                .build()?;
            let mut tokenizer = Tokenizer::new(model);
            if self.pre_tokenizer == PreTokenizer::Qwen2 {
                tokenizer.with_normalizer(Some(NFC))?;
            }
            tokenizer.with_pre_tokenizer(Some(self.pre_tokenizer.build()?));
            tokenizer.with_decoder(Some(ByteLevel::default()));
            tokenizer.add_special_tokens(control)?;
            tokenizer.add_tokens(user_defined)?;
            Ok(tokenizer)
        })
    }
}
