//! How surprised a model is by a text.

use super::{EvalError, Subject};
use crate::architecture::{ContextCache, Segment};

/// −log p of every token but the first, given all before it, in nats.
///
/// # Errors
/// Fewer than two tokens, and whatever the model or the runtime reports.
pub fn token_nll(subject: &mut Subject<'_>, ids: &[u32]) -> Result<Vec<f64>, EvalError> {
    let Some((_, predicted)) = ids.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return Err(EvalError::TooShort { tokens: ids.len() });
    };
    let mut cache = ContextCache::new(subject.decoder.config());
    let segment = Segment { ids: &ids[..predicted.len()], position: 0, context: Vec::new() };
    let hidden = subject.decoder.infer(subject.runtime, subject.adapter, &[segment], &mut cache)?;
    let wanted: Vec<Vec<u32>> = predicted.iter().map(|&id| vec![id]).collect();
    let log_probs = subject.decoder.log_probs(&hidden, &wanted);
    Ok(log_probs.iter().map(|row| -f64::from(row[0])).collect())
}

/// `exp` of the mean of [`token_nll`].
///
/// # Errors
/// As [`token_nll`], and a mean that is not a number.
pub fn perplexity(subject: &mut Subject<'_>, ids: &[u32]) -> Result<f64, EvalError> {
    let nll = token_nll(subject, ids)?;
    let mean = nll.iter().sum::<f64>() / nll.len() as f64;
    if mean.is_finite() { Ok(mean.exp()) } else { Err(EvalError::NotANumber) }
}
