//! Training and evaluation rows: JSONL in, token ids with labels out.

mod answer_spans;
mod error;
mod lines;
mod load;
mod row;
mod sample;

pub(crate) use error::json_problem;
pub use error::{DataError, RowError};
pub use load::load_jsonl;
pub use sample::{Dataset, NO_TARGET, Sample};

#[cfg(test)]
mod tests;
