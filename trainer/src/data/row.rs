//! The three shapes a line may have.

use super::RowError;
use crate::text::Message;
use serde::Deserialize;

/// One parsed line.
#[derive(Debug)]
pub(super) enum Row {
    /// A conversation; every assistant turn is trained.
    Messages(Vec<Message>),
    /// Plain text; the completion is trained.
    Completion { prompt: String, completion: String },
    /// Token ids with their labels.
    Tokens { ids: Vec<u32>, labels: Vec<i32> },
}

/// Fields of all shapes; a row may have others, such as its own id.
#[derive(Deserialize)]
struct Fields {
    messages: Option<Vec<Message>>,
    prompt: Option<String>,
    completion: Option<String>,
    input_ids: Option<Vec<u32>>,
    labels: Option<Vec<i32>>,
}

/// Parses one line.
pub(super) fn parse(line: &str) -> Result<Row, RowError> {
    let fields: Fields = serde_json::from_str(line).map_err(RowError::Malformed)?;
    match fields {
        Fields { messages: Some(messages), prompt: None, completion: None, input_ids: None, labels: None } => {
            Ok(Row::Messages(messages))
        }
        Fields {
            messages: None,
            prompt: Some(prompt),
            completion: Some(completion),
            input_ids: None,
            labels: None,
        } => Ok(Row::Completion { prompt, completion }),
        Fields { messages: None, prompt: None, completion: None, input_ids: Some(ids), labels: Some(labels) } => {
            Ok(Row::Tokens { ids, labels })
        }
        other => Err(RowError::Shape { found: present(&other) }),
    }
}

fn present(fields: &Fields) -> String {
    let there: Vec<&str> = [
        ("`messages`", fields.messages.is_some()),
        ("`prompt`", fields.prompt.is_some()),
        ("`completion`", fields.completion.is_some()),
        ("`input_ids`", fields.input_ids.is_some()),
        ("`labels`", fields.labels.is_some()),
    ]
    .into_iter()
    .filter_map(|(name, there)| there.then_some(name))
    .collect();
    match there.is_empty() {
        true => "none of these".into(),
        false => there.join(", "),
    }
}
