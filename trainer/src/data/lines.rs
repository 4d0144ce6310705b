//! Lines of a file, none longer than a limit.

use super::RowError;
use std::io::{BufRead, Read};

/// Longest line in bytes. A row of 100 000 tokens takes well under 1 MiB.
pub(super) const LONGEST_LINE: usize = 8 << 20;

/// Why the next line cannot be had.
#[derive(Debug)]
pub(super) enum LineError {
    Read(std::io::Error),
    Row(RowError),
}

/// Reads the next line into `line`, without its end; `false` at the end of the file. Never holds
/// more than the limit in memory.
pub(super) fn next_line(reader: &mut impl BufRead, limit: usize, line: &mut String) -> Result<bool, LineError> {
    let mut bytes = std::mem::take(line).into_bytes();
    bytes.clear();
    // One more for the line feed, and one to see that the line goes on.
    let read = reader.by_ref().take(limit as u64 + 2).read_until(b'\n', &mut bytes).map_err(LineError::Read)?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    if bytes.len() > limit {
        return Err(LineError::Row(RowError::LineTooLong { limit }));
    }
    *line = String::from_utf8(bytes).map_err(|_| LineError::Row(RowError::NotUtf8))?;
    Ok(read > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], limit: usize) -> Result<Vec<String>, LineError> {
        let mut reader = std::io::BufReader::with_capacity(3, text);
        let mut line = String::new();
        let mut all = Vec::new();
        while next_line(&mut reader, limit, &mut line)? {
            all.push(line.clone());
        }
        Ok(all)
    }

    #[test]
    fn lines_up_to_the_limit_pass() {
        assert_eq!(lines(b"abcd\n\nab", 4).unwrap(), ["abcd", "", "ab"]);
    }

    #[test]
    fn a_longer_line_is_refused_with_or_without_its_end() {
        for text in [&b"abcde\n"[..], b"abcde", b"abcdefgh\nx"] {
            assert!(matches!(lines(text, 4), Err(LineError::Row(RowError::LineTooLong { limit: 4 }))));
        }
    }
}
