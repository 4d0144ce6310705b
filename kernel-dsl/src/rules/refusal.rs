//! What to say of one requirement that refuses every candidate.

use super::conflict::choices;

/// What a requirement makes of one choice of tile sizes.
pub struct Outcome {
    /// Whether it holds; `None` where its arithmetic has no value.
    pub holds: Option<bool>,
    /// The sides of a comparison, as far as they have a value.
    pub sides: Option<[Option<u64>; 2]>,
    /// What it depends on, with the values: `nc=64, vtcm_bytes=8388608`.
    pub values: String,
}

/// A requirement that holds for no candidates.
pub struct Refusal<'a> {
    /// As it was written.
    pub text: &'a str,
    /// The tunables it depends on.
    pub tunables: &'a [usize],
    /// Names of all tunables.
    pub names: &'a [String],
    /// Candidates of all tunables, in order.
    pub candidates: &'a [Vec<u32>],
    /// What it makes of values of all tunables.
    pub outcome: &'a dyn Fn(&[u32]) -> Outcome,
}

impl Refusal<'_> {
    /// What is wrong, with the numbers, and what to do.
    pub fn explain(&self) -> (String, String) {
        let (mut nearest, mut last): (Option<(u64, Outcome)>, _) = (None, None);
        choices(self.candidates, self.tunables, |tiles| {
            let outcome = (self.outcome)(tiles);
            let distance = match outcome.sides {
                Some([Some(left), Some(right)]) => left.abs_diff(right),
                _ => u64::MAX,
            };
            if outcome.holds.is_some() && nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
                nearest = Some((distance, outcome));
            } else {
                last = Some(outcome);
            }
            false
        });
        let (text, every) = (self.text, self.every());
        let Some((_, nearest)) = nearest else {
            let values = last.map_or(String::new(), |outcome| outcome.values);
            let (what, help) = without_value(text);
            return (
                format!("`require {text}` has no value for any candidate of {every}: with {values} it is {what}"),
                help,
            );
        };
        let values = nearest.values;
        let why = match nearest.sides {
            Some([Some(left), Some(right)]) => {
                format!("the nearest, {values}, has {left} on the left and {right} on the right")
            }
            _ => format!("with {values} it does not hold"),
        };
        let help = "allow other candidates, or loosen it".to_string();
        (format!("`require {text}` refuses every candidate of {every}: {why}"), help)
    }

    /// `` `nc` (32 to 512) and `kc` (64) ``
    fn every(&self) -> String {
        let one = |&tunable: &usize| {
            let values = &self.candidates[tunable];
            let range = match (values.iter().min(), values.iter().max()) {
                (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
                (Some(only), _) => only.to_string(),
                _ => "none".into(),
            };
            format!("`{}` ({range})", self.names[tunable])
        };
        self.tunables.iter().map(one).collect::<Vec<_>>().join(" and ")
    }
}

/// What arithmetic without a value may be, by its operators, and what to do.
fn without_value(text: &str) -> (&'static str, String) {
    let has = |operators: &[&str]| operators.iter().any(|operator| text.contains(operator));
    let (below, by_zero, beyond) = (has(&[" - "]), has(&[" / ", " % ", ".div_ceil("]), has(&[" * ", " + "]));
    let (what, help) = match (below, by_zero, beyond) {
        (true, false, false) => ("a difference below 0", "write what is subtracted on the other side"),
        (false, true, false) => ("a division by 0", "divide by what is not 0"),
        (false, false, true) => ("a number from 2^64 on", "compare smaller numbers"),
        _ => (
            "a difference below 0, a division by 0 or a number from 2^64 on",
            "write what is subtracted on the other side, and divide by what is not 0",
        ),
    };
    (what, format!("numbers are whole, from 0 to 2^64 - 1: {help}"))
}
