//! The word that was meant, where another was written.

use strsim::osa_distance;

/// The word nearest to one that nobody knows, if it is near: a third of its letters may differ. Words with other digits are
/// other things, `q5_0` is no misspelt `q4_0`.
pub(crate) fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let written = word.to_lowercase();
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let near = |candidate: &&str| digits(&written) == digits(candidate);
    let distance = |candidate: &str| osa_distance(&written, candidate);
    let (distance, nearest) =
        known.into_iter().filter(near).map(|candidate| (distance(candidate), candidate)).min_by_key(|(d, _)| *d)?;
    (distance <= written.chars().count().max(nearest.chars().count()) / 3).then_some(nearest)
}

/// What to say of a word that nobody knows: the one that was meant, or `otherwise`, which says what there is.
pub(crate) fn way_out<'w>(word: &str, known: impl IntoIterator<Item = &'w str>, otherwise: &str) -> String {
    match nearest(word, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => otherwise.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_words_are_found_and_other_words_are_not() {
        const WORDS: [&str; 8] =
            ["load", "pack_rows", "dequantise", "multiply", "q4_0_tiles", "q8_0_tiles", "mc", "kc"];
        for (written, meant) in [
            ("multply", Some("multiply")),
            ("Multiply", Some("multiply")),
            ("mutliply", Some("multiply")),
            ("dequantize", Some("dequantise")),
            ("dequant", Some("dequantise")),
            ("packrows", Some("pack_rows")),
            ("q8_0_tile", Some("q8_0_tiles")),
            ("kcc", Some("kc")),
            ("q5_0_tiles", None),
            ("relu", None),
            ("nc", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, WORDS), meant, "{written}");
        }
    }
}
