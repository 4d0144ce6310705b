//! A question with a closed set of answers, as token ids.

use crate::data::Sample;
use crate::text::{Message, TextModel};

use super::EvalError;
use super::prefix::common_length;

/// One way to go on after a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Tokens after the prompt, the end-of-turn token included. Never empty.
    pub ids: Vec<u32>,
    /// Index of the first of them whose log-probability counts.
    pub scored_from: usize,
}

/// A prompt and the answers to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Tokens every choice starts from. Never empty.
    pub prompt: Vec<u32>,
    /// The answers, in the order of the classes.
    pub choices: Vec<Choice>,
}

impl Question {
    /// Renders `user` and each of `answers` with the model's chat template and finds where the answers' tokens begin.
    ///
    /// The tokens are those of the whole rendered conversation, which is what training sees: encoding an answer by
    /// itself could split it differently. What follows the first end-of-turn token (a template's final newline) is left
    /// out. Should a tokenizer ever join the end of the prompt with the start of an answer, the prompt is cut before
    /// the joined token and that token is part of what is scored.
    ///
    /// # Errors
    /// When the model has no chat template, or the conversation renders to nothing after the prompt.
    pub fn new(text: &TextModel, user: &str, answers: &[String]) -> Result<Question, EvalError> {
        let template = text.chat_template().ok_or(EvalError::NoChatTemplate)?;
        let asked = [Message::new("user", user)];
        let prompt = text.encode(&template.render(&asked, true)?, true)?;
        let conversations = answers
            .iter()
            .map(|answer| {
                let [ask] = asked.clone();
                let turns = [ask, Message::new("assistant", answer.as_str())];
                Ok(text.encode(&template.render(&turns, false)?, true)?)
            })
            .collect::<Result<Vec<_>, EvalError>>()?;
        Question::from_ids(&prompt, &conversations, text.eos())
    }

    /// The question whose generation prompt is `prompt` and whose whole conversations, one a choice, are
    /// `conversations`; `end` is the end-of-turn token.
    pub fn from_ids(prompt: &[u32], conversations: &[Vec<u32>], end: Option<u32>) -> Result<Question, EvalError> {
        let starts: Vec<usize> = conversations.iter().map(|ids| common_length(ids, prompt)).collect();
        let cut = starts.iter().copied().min().unwrap_or(prompt.len());
        if cut == 0 {
            return Err(EvalError::NoPrompt);
        }
        let choices = conversations
            .iter()
            .zip(starts)
            .map(|(ids, start)| {
                let length = match ids[start..].iter().position(|&id| Some(id) == end) {
                    Some(index) => start + index + 1,
                    None => ids.len(),
                };
                if length == start {
                    return Err(EvalError::EmptyAnswer);
                }
                Ok(Choice { ids: ids[cut..length].to_vec(), scored_from: start - cut })
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Question { prompt: prompt[..cut].to_vec(), choices })
    }

    /// The conversation that ends with choice number `choice`, its scored tokens as targets; row `line` of its source.
    ///
    /// # Panics
    /// When there is no such choice.
    pub fn sample(&self, choice: usize, line: usize) -> Sample {
        let choice = &self.choices[choice];
        let first = self.prompt.len() + choice.scored_from;
        let ids: Vec<u32> = self.prompt.iter().chain(&choice.ids).copied().collect();
        let labels = ids.iter().enumerate().map(|(t, &id)| if t < first { -100 } else { id as i32 }).collect();
        Sample { ids, labels, line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: u32 = 2;

    #[test]
    fn answers_end_with_the_end_of_turn_token() {
        let conversations = [vec![9, 8, 7, 5, END, 30], vec![9, 8, 7, 5, 6, END, 30]];
        let question = Question::from_ids(&[9, 8, 7], &conversations, Some(END)).unwrap();
        assert_eq!(question.prompt, [9, 8, 7]);
        assert_eq!(question.choices[0], Choice { ids: vec![5, END], scored_from: 0 });
        assert_eq!(question.choices[1], Choice { ids: vec![5, 6, END], scored_from: 0 });
    }

    #[test]
    fn an_end_of_turn_token_inside_the_prompt_does_not_end_the_answer() {
        let question = Question::from_ids(&[1, END, 1], &[vec![1, END, 1, 4, END]], Some(END)).unwrap();
        assert_eq!(question.choices[0].ids, [4, END]);
    }

    #[test]
    fn a_token_across_the_border_is_scored() {
        // The second answer's first token swallows the last one of the prompt.
        let conversations = [vec![9, 8, 7, 5, END], vec![9, 8, 77, END]];
        let question = Question::from_ids(&[9, 8, 7], &conversations, Some(END)).unwrap();
        assert_eq!(question.prompt, [9, 8]);
        assert_eq!(question.choices[0], Choice { ids: vec![7, 5, END], scored_from: 1 });
        assert_eq!(question.choices[1], Choice { ids: vec![77, END], scored_from: 0 });
        let sample = question.sample(0, 3);
        assert_eq!((sample.ids, sample.line), (vec![9, 8, 7, 5, END], 3));
        assert_eq!(sample.labels, [-100, -100, -100, 5, END as i32]);
    }

    #[test]
    fn nothing_to_score_is_an_error() {
        assert!(matches!(Question::from_ids(&[9, 8], &[vec![9, 8]], Some(END)), Err(EvalError::EmptyAnswer)));
        assert!(matches!(Question::from_ids(&[9, 8], &[vec![5, 8]], Some(END)), Err(EvalError::NoPrompt)));
    }
}
