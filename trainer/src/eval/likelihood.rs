//! Log-likelihood of every choice of every question, with the shared prompt computed once.
//!
//! The tokens form a tree. Its trunk is the prefix that all prompts share, which goes through the model once. Each
//! question is a branch that sees the trunk, each choice a twig that sees the trunk and its own branch. A twig does not
//! see its neighbours, so every number equals the one a separate run over the whole conversation would give, while a
//! whole group of questions is one request per projection.

use std::iter::once;
use std::ops::Range;

use crate::architecture::{ContextCache, Decoder, Segment};

use super::prefix::shared_prefix;
use super::{EvalError, Question, Subject};

/// Tokens that go through the model together: enough to keep a request large, few enough to stay small in memory.
const GROUP_TOKENS: usize = 768;

/// Where the outputs that predict a choice's tokens lie.
struct Wanted {
    /// Row of the group's output.
    row: usize,
    question: usize,
    choice: usize,
    /// The token to predict.
    id: u32,
}

/// Sum of the log-probabilities of each choice's tokens, `[question][choice]`, in nats. `done` is told how many
/// questions are finished.
///
/// # Errors
/// Whatever the model or the runtime reports, and a score that is not a number.
pub fn choice_scores(
    subject: &mut Subject<'_>,
    questions: &[Question],
    done: &mut dyn FnMut(usize),
) -> Result<Vec<Vec<f64>>, EvalError> {
    let shortest = questions.iter().map(|question| question.prompt.len()).min().unwrap_or(1);
    // The last prompt token stays on the branch: its output predicts the first token of every choice.
    let trunk = shared_prefix(questions.iter().map(|question| question.prompt.as_slice())).min(shortest - 1);
    let decoder = subject.decoder;
    let mut cache = ContextCache::new(decoder.config());
    if trunk > 0 {
        let segment = Segment { ids: &questions[0].prompt[..trunk], position: 0, context: Vec::new() };
        decoder.infer(subject.runtime, subject.adapter, &[segment], &mut cache)?;
        cache.pin();
    }
    let mut scores: Vec<Vec<f64>> = questions.iter().map(|question| vec![0.0; question.choices.len()]).collect();
    for group in groups(questions, trunk) {
        cache.truncate(trunk);
        let (segments, wanted) = tree(questions, group.clone(), trunk);
        let hidden = decoder.infer(subject.runtime, subject.adapter, &segments, &mut cache)?;
        add_log_probs(decoder, &hidden, &wanted, &mut scores);
        done(group.end);
    }
    match scores.iter().flatten().all(|score| score.is_finite()) {
        true => Ok(scores),
        false => Err(EvalError::NotANumber),
    }
}

/// Index of the best score of each question; the first one of equals.
pub fn best_choices(scores: &[Vec<f64>]) -> Vec<usize> {
    let best =
        |row: &Vec<f64>| (0..row.len()).fold(0, |best, choice| if row[choice] > row[best] { choice } else { best });
    scores.iter().map(best).collect()
}

/// Tokens a question adds to a group. The last token of a choice is only predicted, never fed.
fn cost(question: &Question, trunk: usize) -> usize {
    let twigs: usize = question.choices.iter().map(|choice| choice.len() - 1).sum();
    question.prompt.len() - trunk + twigs
}

fn groups(questions: &[Question], trunk: usize) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (index, question) in questions.iter().enumerate() {
        let more = cost(question, trunk);
        if index > start && tokens + more > GROUP_TOKENS {
            groups.push(start..index);
            (start, tokens) = (index, 0);
        }
        tokens += more;
    }
    if start < questions.len() {
        groups.push(start..questions.len());
    }
    groups
}

/// The group's segments, cache rows counted from `trunk`, and the predictions to read off their outputs.
fn tree(questions: &[Question], group: Range<usize>, trunk: usize) -> (Vec<Segment<'_>>, Vec<Wanted>) {
    let mut segments = Vec::new();
    let mut wanted = Vec::new();
    let mut row = 0;
    for index in group {
        let question = &questions[index];
        let branch = &question.prompt[trunk..];
        let branch_rows = trunk + row..trunk + row + branch.len();
        segments.push(Segment { ids: branch, position: trunk, context: once(0..trunk).collect() });
        row += branch.len();
        let last = row - 1;
        for (number, choice) in question.choices.iter().enumerate() {
            let fed = &choice[..choice.len() - 1];
            let predictor = |offset: usize| if offset == 0 { last } else { row + offset - 1 };
            wanted.extend(choice.iter().enumerate().map(|(offset, &id)| Wanted {
                row: predictor(offset),
                question: index,
                choice: number,
                id,
            }));
            if !fed.is_empty() {
                let context = vec![0..trunk, branch_rows.clone()];
                segments.push(Segment { ids: fed, position: question.prompt.len(), context });
                row += fed.len();
            }
        }
    }
    (segments, wanted)
}

fn add_log_probs(decoder: &Decoder, hidden: &[f32], wanted: &[Wanted], scores: &mut [Vec<f64>]) {
    let mut order: Vec<&Wanted> = wanted.iter().collect();
    order.sort_by_key(|wanted| wanted.row);
    let rows: Vec<&[&Wanted]> = order.chunk_by(|a, b| a.row == b.row).collect();
    let width = decoder.config().hidden;
    let outputs: Vec<f32> =
        rows.iter().flat_map(|row| &hidden[row[0].row * width..(row[0].row + 1) * width]).copied().collect();
    let ids: Vec<Vec<u32>> = rows.iter().map(|row| row.iter().map(|wanted| wanted.id).collect()).collect();
    for (row, log_probs) in rows.iter().zip(decoder.log_probs(&outputs, &ids)) {
        for (wanted, log_prob) in row.iter().zip(log_probs) {
            scores[wanted.question][wanted.choice] += f64::from(log_prob);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(prompt: &[u32], choices: &[&[u32]]) -> Question {
        Question { prompt: prompt.to_vec(), choices: choices.iter().map(|ids| ids.to_vec()).collect() }
    }

    #[test]
    fn a_twig_sees_trunk_and_branch_only() {
        let questions = [question(&[1, 2, 3, 4], &[&[5, 9], &[6, 7, 9], &[9]]), question(&[1, 2, 8], &[&[5, 9]])];
        let (segments, wanted) = tree(&questions, 0..2, 2);
        let seen: Vec<_> = segments.iter().map(|s| (s.ids, s.position, s.context.clone())).collect();
        type Piece<'a> = (&'a [u32], usize, Vec<Range<usize>>);
        let expected: Vec<Piece> = vec![
            (&[3, 4], 2, once(0..2).collect()),
            (&[5], 4, vec![0..2, 2..4]),
            (&[6, 7], 4, vec![0..2, 2..4]),
            (&[8], 2, once(0..2).collect()),
            (&[5], 3, vec![0..2, 7..8]),
        ];
        assert_eq!(seen, expected);
        let read: Vec<_> = wanted.iter().map(|w| (w.row, w.question, w.choice, w.id)).collect();
        let expected = [
            (1, 0, 0, 5),
            (2, 0, 0, 9),
            (1, 0, 1, 6),
            (3, 0, 1, 7),
            (4, 0, 1, 9),
            (1, 0, 2, 9),
            (5, 1, 0, 5),
            (6, 1, 0, 9),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn groups_cover_every_question_once_and_stay_within_the_budget() {
        let questions: Vec<_> = (1..40).map(|n| question(&vec![7; n * 10], &[&[1, 2], &[3, 2]])).collect();
        let groups = groups(&questions, 5);
        let covered: Vec<usize> = groups.iter().cloned().flatten().collect();
        assert_eq!(covered, (0..questions.len()).collect::<Vec<_>>());
        for group in groups {
            let tokens: usize = group.clone().map(|index| cost(&questions[index], 5)).sum();
            assert!(tokens <= GROUP_TOKENS || group.len() == 1, "{group:?} has {tokens}");
        }
    }

    #[test]
    fn the_first_of_equal_scores_wins() {
        assert_eq!(best_choices(&[vec![-2.0, -1.0, -1.0], vec![-1.0, -3.0]]), [1, 0]);
    }
}
