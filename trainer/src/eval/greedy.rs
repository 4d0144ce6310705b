//! The answer a model gives when it always takes the likeliest token.

use std::iter::once;

use super::{EvalError, Subject};
use crate::architecture::{ContextCache, Segment};

/// Continues `prompt` with the likeliest token until `end` is likeliest or `max_tokens` are there. `end` itself is not
/// part of the answer.
///
/// # Errors
/// An empty prompt, and whatever the model or the runtime reports.
pub fn greedy(
    subject: &mut Subject<'_>,
    prompt: &[u32],
    end: Option<u32>,
    max_tokens: usize,
) -> Result<Vec<u32>, EvalError> {
    if prompt.is_empty() {
        return Err(EvalError::NoPrompt);
    }
    let width = subject.decoder.config().hidden;
    let mut cache = ContextCache::new(subject.decoder.config());
    let mut answer: Vec<u32> = Vec::new();
    while answer.len() < max_tokens {
        let fresh = answer.last().map_or(prompt, std::slice::from_ref);
        let seen = cache.len();
        let segment = Segment { ids: fresh, position: seen, context: once(0..seen).collect() };
        let hidden = subject.decoder.infer(subject.runtime, subject.adapter, &[segment], &mut cache)?;
        let next = likeliest(&subject.decoder.head_logits(&hidden[hidden.len() - width..]))?;
        if Some(next) == end {
            break;
        }
        answer.push(next);
    }
    Ok(answer)
}

/// The token with the largest logit; the first one of equals.
pub(super) fn likeliest(logits: &[f32]) -> Result<u32, EvalError> {
    let mut best = 0;
    for (id, &logit) in logits.iter().enumerate() {
        if logit.is_nan() {
            return Err(EvalError::NotANumber);
        }
        if logit > logits[best] {
            best = id;
        }
    }
    Ok(best as u32)
}
