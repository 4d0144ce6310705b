//! Compares the rows a kernel has just computed with its reference, and their flags with its partial sums.

use hexagon_runtime::device::Call;
use kernel_gen::tolerance::Expected;

use super::Wrong;
use super::outputs::Outputs;
use crate::product::OVERFLOW;

/// Judges `rows`; `expected` gives output (row, column), `not_finite` names an element of an operand that is not finite.
pub(super) fn judge_rows(
    outputs: &Outputs,
    call: &Call,
    rows: &[usize],
    not_finite: Option<&str>,
    expected: impl Fn(usize, usize) -> Expected,
) -> Result<(), Wrong> {
    let mut first: Option<(usize, usize, f32, Expected)> = None;
    let (mut outside, mut compared) = (0, 0);
    for &row in rows {
        let flagged = call.flags()[row] != 0;
        let columns: Vec<Expected> = (0..outputs.width()).map(|column| expected(row, column)).collect();
        let largest_partial = columns.iter().fold(0f64, |m, e| m.max(e.partial));
        if not_finite.is_none()
            && let Some(column) = columns.iter().position(|e| !e.value.is_finite())
        {
            return Err(Wrong::NotFinite { row, column, expected: columns[column].value });
        }
        if must_flag(largest_partial).is_some_and(|must| must != flagged) {
            let reason = if flagged {
                outputs.row(row, call).zip(&columns).enumerate().find(|(_, (got, _))| !got.is_finite()).map(
                    |(column, (got, expected))| {
                        format!(
                            "the kernel computes {got} in column {column}, where the reference says {:e}: a step made what is \
                             not a finite number, which flags the row for retry",
                            expected.value
                        )
                    },
                )
            } else {
                not_finite.filter(|_| !largest_partial.is_finite()).map(|operand| {
                    format!("{operand}, but every partial sum of the kernel is finite: nothing is flagged for retry")
                })
            };
            return Err(Wrong::Flag { row, flagged, largest_partial, reason });
        }
        if flagged {
            continue;
        }
        for (column, (expected, got)) in columns.into_iter().zip(outputs.row(row, call)).enumerate() {
            compared += 1;
            if !expected.allows(got) {
                outside += 1;
                first.get_or_insert((row, column, got, expected));
            }
        }
    }
    match first {
        Some((row, column, got, Expected { value, bound, .. })) => {
            Err(Wrong::Output { row, column, got, expected: value, bound, outside, compared })
        }
        None => Ok(()),
    }
}

/// Whether a row with this largest partial sum must be flagged, must not be, or may be: at the threshold the rounding of
/// the partial sum decides.
fn must_flag(largest_partial: f64) -> Option<bool> {
    if largest_partial >= OVERFLOW * 1.002 {
        Some(true)
    } else if largest_partial < OVERFLOW * 0.998 {
        Some(false)
    } else {
        None
    }
}
