//! Which tokens of a text are the answer.
//!
//! A model is prompted with the tokens of the prompt alone and then continues them. So the answer's
//! tokens are those that follow the prompt's tokens, and the prompt's tokens must be the beginning
//! of the whole text's tokens: where they are not (a token reaches across the seam), training
//! would teach a sequence that never occurs in use, and the row is refused.

use super::RowError;
use crate::text::{Message, TextError, TextModel};
use std::ops::Range;

/// Token ids of a text and the spans to train.
#[derive(Debug)]
pub(super) struct Marked {
    pub(super) ids: Vec<u32>,
    pub(super) answers: Vec<Range<usize>>,
}

/// A conversation through the model's chat template; every assistant turn is an answer, up to and
/// with its end token.
pub(super) fn conversation(text: &TextModel, messages: &[Message], max_tokens: usize) -> Result<Marked, RowError> {
    let template = text.chat_template().ok_or(TextError::NoTemplate)?;
    let ids = text.encode(&template.render(messages, false)?, true)?;
    // Checked before the turns are rendered one by one, which bounds that work.
    check_length(&ids, max_tokens)?;
    let mut answers = Vec::new();
    for (turn, message) in messages.iter().enumerate() {
        if message.role != "assistant" {
            continue;
        }
        let prompt = text.encode(&template.render(&messages[..turn], true)?, true)?;
        let upto = text.encode(&template.render(&messages[..=turn], false)?, true)?;
        if !ids.starts_with(&upto) {
            return Err(RowError::NotAPrefix {
                why: "the chat template writes an earlier turn differently once more turns follow; \
                      give every answer a row of its own",
            });
        }
        if !upto.starts_with(&prompt) {
            return Err(RowError::NotAPrefix {
                why: "the rendered answer does not go on from the template's generation prompt; \
                      the answer may begin with white space that joins the prompt's last token, \
                      or the template may not write what it prompts with",
            });
        }
        let answer = prompt.len()..upto.len();
        answers.push(through_end(&ids, answer, text.eos()));
    }
    Ok(Marked { ids, answers })
}

/// Plain text: no template; BOS in front where the model expects it, EOS behind.
pub(super) fn completion(
    text: &TextModel,
    prompt: &str,
    completion: &str,
    max_tokens: usize,
) -> Result<Marked, RowError> {
    let bos = text.bos().filter(|_| text.adds_bos());
    let mut ids = Vec::from_iter(bos);
    let mut prompt_ids = ids.clone();
    prompt_ids.extend(text.encode(prompt, true)?);
    ids.extend(text.encode(&format!("{prompt}{completion}"), true)?);
    check_length(&ids, max_tokens)?;
    if !ids.starts_with(&prompt_ids) {
        return Err(RowError::NotAPrefix {
            why: "a token reaches across the end of `prompt`; move white space from the end of \
                  `prompt` to the start of `completion`",
        });
    }
    let answer = prompt_ids.len();
    if ids.len() > answer && ids.last().copied() != text.eos() {
        ids.extend(text.eos());
    }
    let end = ids.len();
    Ok(Marked { ids, answers: std::iter::once(answer..end).collect() })
}

/// Ends the span at its last end-of-answer token: generation stops there, so what a template writes
/// between turns is not the model's to say.
fn through_end(ids: &[u32], answer: Range<usize>, eos: Option<u32>) -> Range<usize> {
    let last = ids[answer.clone()].iter().rposition(|&id| Some(id) == eos).map(|index| answer.start + index + 1);
    answer.start..last.unwrap_or(answer.end)
}

pub(super) fn check_length(ids: &[u32], limit: usize) -> Result<(), RowError> {
    if ids.len() > limit {
        return Err(RowError::TooManyTokens { tokens: ids.len(), limit });
    }
    Ok(())
}
