//! A question with a closed set of answers, as token ids.

use super::EvalError;
use crate::data::{NO_TARGET, Sample};
use crate::text::{Message, TextModel};

/// A prompt and the answers to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Tokens every answer goes on from. Never empty.
    pub prompt: Vec<u32>,
    /// Tokens of each answer, in the order of the classes, the end-of-turn token included. Never empty.
    pub choices: Vec<Vec<u32>>,
}

impl Question {
    /// Renders `user` and each of `answers` with the model's chat template.
    ///
    /// An answer's tokens are those that the whole rendered conversation has after its generation prompt, as in
    /// training: encoding an answer by itself could split it differently. What follows the end-of-turn token (a
    /// template's line break) is left out.
    ///
    /// # Errors
    /// No chat template, an answer without tokens, a token that reaches from the prompt into an answer.
    pub fn new(text: &TextModel, user: &str, answers: &[String]) -> Result<Question, EvalError> {
        let template = text.chat_template().ok_or(EvalError::NoChatTemplate)?;
        let asked = Message::new("user", user);
        let prompt = text.encode(&template.render(std::slice::from_ref(&asked), true)?, true)?;
        let conversations = answers
            .iter()
            .map(|answer| {
                let turns = [asked.clone(), Message::new("assistant", answer.as_str())];
                Ok(text.encode(&template.render(&turns, false)?, true)?)
            })
            .collect::<Result<Vec<_>, EvalError>>()?;
        Question::from_ids(prompt, &conversations, text.eos())
    }

    /// The question whose generation prompt is `prompt` and whose whole conversations, one an answer, are
    /// `conversations`; `end` is the end-of-turn token.
    ///
    /// # Errors
    /// As [`Question::new`].
    pub fn from_ids(prompt: Vec<u32>, conversations: &[Vec<u32>], end: Option<u32>) -> Result<Question, EvalError> {
        let choices = conversations
            .iter()
            .map(|ids| {
                let answer = ids.strip_prefix(prompt.as_slice()).ok_or(EvalError::Seam)?;
                let last = answer.iter().position(|&id| Some(id) == end);
                let answer = &answer[..last.map_or(answer.len(), |last| last + 1)];
                if answer.is_empty() { Err(EvalError::EmptyAnswer) } else { Ok(answer.to_vec()) }
            })
            .collect::<Result<Vec<_>, _>>()?;
        if prompt.is_empty() { Err(EvalError::NoPrompt) } else { Ok(Question { prompt, choices }) }
    }

    /// The conversation that ends with answer number `choice`, the answer's tokens as targets; row `line` of its source.
    ///
    /// # Panics
    /// When there is no such answer.
    pub fn sample(&self, choice: usize, line: usize) -> Sample {
        let answer = &self.choices[choice];
        let masked = self.prompt.iter().map(|_| NO_TARGET);
        Sample {
            ids: self.prompt.iter().chain(answer).copied().collect(),
            labels: masked.chain(answer.iter().map(|&id| id as i32)).collect(),
            line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: u32 = 2;

    #[test]
    fn answers_end_with_the_end_of_turn_token() {
        let conversations = [vec![9, 8, 7, 5, END, 30], vec![9, 8, 7, 5, 6, END, 30]];
        let question = Question::from_ids(vec![9, 8, 7], &conversations, Some(END)).unwrap();
        assert_eq!(question.choices, [vec![5, END], vec![5, 6, END]]);
        let sample = question.sample(1, 3);
        assert_eq!((sample.ids, sample.line), (vec![9, 8, 7, 5, 6, END], 3));
        assert_eq!(sample.labels, [-100, -100, -100, 5, 6, END as i32]);
    }

    #[test]
    fn an_end_of_turn_token_inside_the_prompt_does_not_end_the_answer() {
        let question = Question::from_ids(vec![1, END, 1], &[vec![1, END, 1, 4, END]], Some(END)).unwrap();
        assert_eq!(question.choices, [[4, END]]);
    }

    #[test]
    fn without_an_end_of_turn_token_all_of_the_rest_is_the_answer() {
        let question = Question::from_ids(vec![1], &[vec![1, 4, 5]], None).unwrap();
        assert_eq!(question.choices, [[4, 5]]);
    }

    #[test]
    fn a_token_across_the_seam_is_an_error() {
        // The conversation's third token swallowed the last one of the prompt.
        let question = Question::from_ids(vec![9, 8, 7], &[vec![9, 8, 77, END]], Some(END));
        assert!(matches!(question, Err(EvalError::Seam)));
    }

    #[test]
    fn nothing_to_score_is_an_error() {
        assert!(matches!(Question::from_ids(vec![9, 8], &[vec![9, 8]], Some(END)), Err(EvalError::EmptyAnswer)));
        assert!(matches!(Question::from_ids(vec![], &[vec![9, END]], Some(END)), Err(EvalError::NoPrompt)));
    }
}
