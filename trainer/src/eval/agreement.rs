//! Accuracy and macro-F1 of predicted classes.

/// How well predicted classes agree with the gold ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Rows compared.
    pub rows: usize,
    /// Share of rows whose prediction is the gold class, 0 to 1.
    pub accuracy: f64,
    /// Mean of the per-class F1 scores, 0 to 1.
    pub macro_f1: f64,
}

impl Agreement {
    /// Compares `predicted` with `gold`, class numbers below `classes`, row by row.
    ///
    /// The F1 of a class is `2·tp / (2·tp + fp + fn)`. The mean is taken over the classes that occur in the gold
    /// labels or among the predictions; a class nobody asked for and nobody named has no F1. This is the convention of
    /// scikit-learn's `f1_score(average="macro")`. Without rows both numbers are 0.
    ///
    /// # Panics
    /// When the two slices differ in length or name a class at or above `classes`.
    pub fn of(gold: &[usize], predicted: &[usize], classes: usize) -> Agreement {
        assert_eq!(gold.len(), predicted.len(), "one prediction a gold label");
        let mut hits = vec![0usize; classes];
        let mut named = vec![0usize; classes];
        let mut wanted = vec![0usize; classes];
        for (&g, &p) in gold.iter().zip(predicted) {
            wanted[g] += 1;
            named[p] += 1;
            hits[g] += usize::from(g == p);
        }
        if gold.is_empty() {
            return Agreement::default();
        }
        let scores: Vec<f64> = (0..classes)
            .filter(|&c| wanted[c] + named[c] > 0)
            .map(|c| 2.0 * hits[c] as f64 / (wanted[c] + named[c]) as f64)
            .collect();
        Agreement {
            rows: gold.len(),
            accuracy: hits.iter().sum::<usize>() as f64 / gold.len() as f64,
            macro_f1: scores.iter().sum::<f64>() / scores.len() as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Agreement;

    #[test]
    fn perfect_predictions_score_one_even_when_a_class_is_absent() {
        let agreement = Agreement::of(&[0, 1, 1, 3], &[0, 1, 1, 3], 5);
        assert_eq!((agreement.rows, agreement.accuracy, agreement.macro_f1), (4, 1.0, 1.0));
    }

    #[test]
    fn matches_the_worked_example() {
        // Class 0: tp 2, fp 1, fn 1 → 2/3. Class 1: tp 1, fp 1, fn 1 → 1/2. Class 2: tp 0, fp 0, fn 1 → 0.
        // Class 3: tp 0, fp 1, fn 0 → 0. Class 4 never occurs and does not count.
        let agreement = Agreement::of(&[0, 0, 0, 1, 1, 2], &[0, 0, 1, 1, 3, 0], 5);
        assert!((agreement.accuracy - 0.5).abs() < 1e-12);
        assert!((agreement.macro_f1 - (2.0 / 3.0 + 0.5) / 4.0).abs() < 1e-12);
    }

    #[test]
    fn always_naming_one_class_is_punished_by_macro_f1() {
        let agreement = Agreement::of(&[0, 1, 2, 0], &[0, 0, 0, 0], 3);
        assert!((agreement.accuracy - 0.5).abs() < 1e-12);
        assert!((agreement.macro_f1 - (2.0 / 3.0) / 3.0).abs() < 1e-12);
    }

    #[test]
    fn no_rows_score_nothing() {
        assert_eq!(Agreement::of(&[], &[], 3), Agreement::default());
    }
}
