//! A tokenizer out of a `tokenizer.json`.

use super::TextError;
use super::guard::guarded;
use tokenizers::Tokenizer;

/// Builds the tokenizer a file describes and tries it once, since some descriptions only fail in
/// use.
pub(crate) fn from_bytes(json: &[u8]) -> Result<Tokenizer, TextError> {
    guarded(|| {
        let mut tokenizer = Tokenizer::from_bytes(json)?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None)?;
        tokenizer.encode_fast("One small text, 2 numbers: 3.", false)?;
        Ok(tokenizer)
    })
}

/// Whether encoding a text the file's own way puts the token `bos` in front.
pub(crate) fn puts_in_front(tokenizer: &Tokenizer, bos: u32) -> Result<bool, TextError> {
    let encoding = guarded(|| tokenizer.encode_fast("a", true))?;
    Ok(encoding.get_ids().first() == Some(&bos))
}
