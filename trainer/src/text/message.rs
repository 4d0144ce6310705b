//! One turn of a conversation.

use serde::{Deserialize, Serialize};

/// One turn of a conversation, as chat templates see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks: `system`, `user`, `assistant` or what the template knows.
    pub role: String,
    /// What is said.
    pub content: String,
    /// Further keys of the row, such as `name`; the template may use them.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Message {
    /// A turn with a role and a content and nothing else.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Message {
        Message { role: role.into(), content: content.into(), extra: serde_json::Map::new() }
    }
}
