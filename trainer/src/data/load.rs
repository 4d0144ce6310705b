//! A JSONL file as a dataset.

use super::lines::{LONGEST_LINE, LineError, next_line};
use super::sample::{Dataset, Sample};
use super::{DataError, row};
use crate::text::TextModel;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Reads a JSONL file: one sample a line, blank lines skipped. A line is
/// - `{"messages": [{"role": …, "content": …}, …]}`: rendered by the model's chat template, every
///   assistant turn trained up to and with its end token;
/// - `{"prompt": …, "completion": …}`: plain text without template, the completion and the EOS
///   token put behind it trained;
/// - `{"input_ids": […], "labels": […]}`: taken as they are, -100 = no target, not shifted.
///
/// `vocab` is the number of embedding rows, `max_tokens` the longest sample allowed. Every error
/// about a row names its line; nothing is cut or skipped silently.
pub fn load_jsonl(
    path: &Path,
    text: Option<&TextModel>,
    vocab: usize,
    max_tokens: usize,
) -> Result<Dataset, DataError> {
    let failed = |source| DataError::Read { path: path.into(), source };
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut dataset = Dataset::default();
    let mut buffer = String::new();
    for number in 1.. {
        let at_line = |problem| DataError::Row { path: path.into(), line: number, problem };
        match next_line(&mut reader, LONGEST_LINE, &mut buffer) {
            Ok(true) => {}
            Ok(false) => break,
            Err(LineError::Read(source)) => return Err(failed(source)),
            Err(LineError::Row(problem)) => return Err(at_line(problem)),
        }
        // Some editors put a byte-order mark in front of the file.
        let line = match number {
            1 => buffer.trim_start_matches('\u{feff}'),
            _ => &buffer,
        };
        if line.trim().is_empty() {
            continue;
        }
        let sample =
            row::parse(line).and_then(|row| Sample::from_row(row, number, text, vocab, max_tokens)).map_err(at_line)?;
        if sample.targets() == 0 {
            dataset.untargeted += 1;
        }
        dataset.samples.push(sample);
    }
    if dataset.samples.is_empty() {
        return Err(DataError::Empty { path: path.into() });
    }
    Ok(dataset)
}
