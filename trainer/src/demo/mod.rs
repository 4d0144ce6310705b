//! What the demo is made of: its model, its data, its summary.

mod app_tags;
mod cache;
mod fetch;
mod summary;
mod task;

pub use app_tags::{TagDataError, TaggedApp, parse, question, tags, test, train};
pub use cache::cache_folder;
pub use fetch::{FetchError, cached_smollm2, smollm2};
pub use summary::{Measured, Summary};
pub use task::{TagTask, pick, write_training_rows};
