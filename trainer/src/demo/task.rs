//! Tag classification as questions to a chat model and as training rows.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::json;

use super::app_tags::{self, TaggedApp};
use crate::data::Sample;
use crate::eval::{Agreement, EvalError, Question, Subject, best_choices, choice_scores};
use crate::text::TextModel;

/// Rows to classify and their gold tags.
pub struct TagTask {
    questions: Vec<Question>,
    gold: Vec<usize>,
    classes: usize,
}

impl TagTask {
    /// One question a row of `apps`, to be answered with one of `tags`.
    ///
    /// # Errors
    /// When the model has no chat template or its tokenizer refuses a text.
    ///
    /// # Panics
    /// When a row's tag is not among `tags`.
    pub fn new(text: &TextModel, apps: &[TaggedApp], tags: &[String]) -> Result<TagTask, EvalError> {
        let questions = apps
            .iter()
            .map(|app| Question::new(text, &app_tags::question(app, tags), tags))
            .collect::<Result<_, _>>()?;
        let class = |app: &TaggedApp| tags.iter().position(|tag| *tag == app.tag).expect("a row's tag is listed");
        Ok(TagTask { questions, gold: apps.iter().map(class).collect(), classes: tags.len() })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.gold.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.gold.is_empty()
    }

    /// Each question with its gold answer, the answer's tokens as targets.
    pub fn gold_samples(&self) -> Vec<Sample> {
        let rows = self.questions.iter().zip(&self.gold).enumerate();
        rows.map(|(index, (question, &gold))| question.sample(gold, index + 1)).collect()
    }

    /// Answers every question with its likeliest tag and compares with the gold tags. `done` is told how many rows are
    /// finished.
    ///
    /// # Errors
    /// Whatever the model or the runtime reports.
    pub fn measure(&self, subject: &mut Subject<'_>, done: &mut dyn FnMut(usize)) -> Result<Agreement, EvalError> {
        let scores = choice_scores(subject, &self.questions, done)?;
        Ok(Agreement::of(&self.gold, &best_choices(&scores), self.classes))
    }
}

/// `count` rows of `apps` (all, if there are fewer) in an order drawn from `seed`.
pub fn pick(mut apps: Vec<TaggedApp>, count: usize, seed: u64) -> Vec<TaggedApp> {
    // Fisher-Yates from the back, numbers by SplitMix64 (Steele, Lea, Flood 2014). Its modulo bias is below 2^-53 here.
    let mut state = seed;
    for last in (1..apps.len()).rev() {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        apps.swap(last, (mixed % (last as u64 + 1)) as usize);
    }
    apps.truncate(count);
    apps
}

/// Writes `apps` as conversations, one a line, in the form `permafrost train --data` reads.
///
/// # Errors
/// Whatever the file system reports.
pub fn write_training_rows(path: &Path, apps: &[TaggedApp], tags: &[String]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = BufWriter::new(File::create(path)?);
    for app in apps {
        let row = json!({ "messages": [
            { "role": "user", "content": app_tags::question(app, tags) },
            { "role": "assistant", "content": app.tag },
        ] });
        writeln!(file, "{row}")?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(apps: &[TaggedApp]) -> Vec<&str> {
        apps.iter().map(|app| app.id.as_str()).collect()
    }

    #[test]
    fn a_seed_picks_the_same_distinct_rows_and_another_seed_others() {
        let all = app_tags::train().unwrap();
        let (first, again, other) = (pick(all.clone(), 320, 1), pick(all.clone(), 320, 1), pick(all, 320, 2));
        assert_eq!(ids(&first), ids(&again));
        assert_ne!(ids(&first), ids(&other));
        let mut distinct = ids(&first);
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 320);
    }

    #[test]
    fn picking_more_rows_than_there_are_gives_all() {
        let all = app_tags::test().unwrap();
        assert_eq!(pick(all, 10_000, 3).len(), 225);
    }

    #[test]
    fn training_rows_are_conversations_that_end_with_the_tag() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/train.jsonl");
        let apps = app_tags::test().unwrap();
        write_training_rows(&path, &apps[..3], &app_tags::tags(&apps)).unwrap();
        let text = fs::read_to_string(path).unwrap();
        let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[2]["messages"][1]["content"], apps[2].tag);
        assert!(rows[2]["messages"][0]["content"].as_str().unwrap().contains(&apps[2].title));
    }
}
