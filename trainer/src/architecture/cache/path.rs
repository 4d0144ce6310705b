//! Which rows lead to a state.

use std::ops::Range;

/// Rows in the order they were seen, neighbouring ranges joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path(Vec<Range<usize>>);

impl Path {
    pub fn new(ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        let mut joined: Vec<Range<usize>> = Vec::new();
        for range in ranges.into_iter().filter(|range| !range.is_empty()) {
            match joined.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => joined.push(range),
            }
        }
        Path(joined)
    }

    /// One past the last row; `None` for no rows.
    pub fn end(&self) -> Option<usize> {
        self.0.last().map(|range| range.end)
    }

    pub fn then(&self, rows: Range<usize>) -> Self {
        Path::new(self.0.iter().cloned().chain([rows]))
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn neighbours_are_joined() {
        let path = Path::new([0..5, 5..12, 12..12, 20..21]);
        assert_eq!(path, Path::new([0..12, 20..21]));
        assert_eq!(path.end(), Some(21));
        assert_eq!(path.then(21..22), Path::new([0..12, 20..22]));
        assert_eq!(Path::default().end(), None);
    }
}
