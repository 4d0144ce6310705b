//! The token prefix that several prompts share.

/// Length of the longest prefix all `rows` have in common; 0 without rows.
pub(super) fn shared_prefix<'a>(rows: impl IntoIterator<Item = &'a [u32]>) -> usize {
    let mut rows = rows.into_iter();
    let Some(first) = rows.next() else { return 0 };
    rows.fold(first.len(), |shared, row| common_length(&first[..shared], row))
}

fn common_length(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::shared_prefix;

    fn of(rows: &[&[u32]]) -> usize {
        shared_prefix(rows.iter().copied())
    }

    #[test]
    fn stops_at_the_first_difference_of_any_row() {
        assert_eq!(of(&[&[1, 2, 3, 4], &[1, 2, 3, 5], &[1, 2, 9, 4]]), 2);
    }

    #[test]
    fn never_exceeds_the_shortest_row() {
        assert_eq!(of(&[&[1, 2, 3], &[1, 2]]), 2);
        assert_eq!(of(&[&[1, 2], &[1, 2, 3]]), 2);
        assert_eq!(of(&[&[1, 2], &[]]), 0);
    }

    #[test]
    fn one_row_shares_everything_with_itself_and_no_row_nothing() {
        assert_eq!(of(&[&[7, 8]]), 2);
        assert_eq!(of(&[]), 0);
    }
}
