//! The bundled `app-tags` set: descriptions of programs, each with one of 15 tags.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::data::json_problem;

/// One program with the archive section its maintainer filed it under.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TaggedApp {
    /// Name of the package.
    pub id: String,
    /// One line about the program.
    pub title: String,
    /// Its description.
    pub text: String,
    /// The gold tag.
    pub tag: String,
}

/// Why tag data could not be read.
#[derive(Debug, Error)]
pub enum TagDataError {
    /// A line is not an object with `id`, `title`, `text` and `tag`.
    #[error(
        "line {line}: {reason}. A row of tag data is {{\"id\", \"title\", \"text\", \"tag\"}}, one JSON object a line"
    )]
    Line {
        /// Line number, from 1.
        line: usize,
        /// What the JSON reader said.
        reason: String,
    },
    /// No row at all.
    #[error("the tag data holds no row: give a file with one JSON object a line")]
    Empty,
}

/// The split to learn from.
pub fn train() -> Result<Vec<TaggedApp>, TagDataError> {
    parse(include_str!("../../../data/app-tags/train.jsonl"))
}

/// The split to measure on.
pub fn test() -> Result<Vec<TaggedApp>, TagDataError> {
    parse(include_str!("../../../data/app-tags/test.jsonl"))
}

/// Reads rows, one JSON object a line; empty lines are passed over.
pub fn parse(text: &str) -> Result<Vec<TaggedApp>, TagDataError> {
    let rows = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            serde_json::from_str(line)
                .map_err(|error| TagDataError::Line { line: index + 1, reason: json_problem(&error) })
        })
        .collect::<Result<Vec<TaggedApp>, _>>()?;
    if rows.is_empty() { Err(TagDataError::Empty) } else { Ok(rows) }
}

/// The distinct tags of `rows`, sorted.
pub fn tags(rows: &[TaggedApp]) -> Vec<String> {
    rows.iter().map(|row| row.tag.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// What the user asks: the choice of tags, then the program, its description cut at 240 characters.
pub fn question(app: &TaggedApp, tags: &[String]) -> String {
    let start: String = app.text.chars().take(240).collect();
    format!("Tags: {}.\nWhich one tag fits this program? {}. {start}", tags.join(", "), app.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_splits_agree_on_their_fifteen_tags() {
        let (train, test) = (train().unwrap(), test().unwrap());
        assert_eq!((train.len(), test.len()), (1168, 225));
        assert_eq!(tags(&train).len(), 15);
        assert_eq!(tags(&train), tags(&test));
    }

    #[test]
    fn the_question_lists_the_tags_and_cuts_the_text_by_characters() {
        let app = TaggedApp { id: "x".into(), title: "a title".into(), text: "é".repeat(300), tag: "web".into() };
        let expected = format!("Tags: mail, web.\nWhich one tag fits this program? a title. {}", "é".repeat(240));
        assert_eq!(question(&app, &["mail".into(), "web".into()]), expected);
    }

    #[test]
    fn a_malformed_row_is_named_by_its_line() {
        let error = parse("{\"id\":\"a\",\"title\":\"b\",\"text\":\"c\",\"tag\":\"d\"}\n\n{\"id\":1}\n").unwrap_err();
        assert!(error.to_string().starts_with("line 3:"), "{error}");
        assert!(!error.to_string().contains("line 1"), "{error}");
        assert!(matches!(parse("\n"), Err(TagDataError::Empty)));
    }
}
