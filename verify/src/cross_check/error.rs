//! What a cross-check says.

use std::fmt;
use std::io;
use std::path::PathBuf;

use hexagon_runtime::RuntimeError;
use hexagon_runtime::device::CompileError;
use kernel_gen::Diagnostic;
use kernel_gen::ddr::UnknownLayout;

use super::Trial;
use crate::step_check::StepFailure;

/// Why a cross-check did not pass.
#[derive(thiserror::Error)]
pub enum CrossCheckError {
    /// The verifier refuses the kernel.
    #[error("the kernel breaks rules:\n{}", lines(.0))]
    Rules(Vec<Diagnostic>),
    /// gcc is missing or refused the emitted C.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The compiled model cannot be loaded.
    #[error(transparent)]
    Load(#[from] RuntimeError),
    /// An operand in a layout nobody described.
    #[error("{0}; CrossCheck::layout does that here")]
    Layout(#[from] UnknownLayout),
    /// No number of cases, or none.
    #[error("{value:?} is no number of cases: give a whole number from 1 on, in PERMAFROST_CASES or CrossCheck::cases")]
    Cases {
        /// What was asked for.
        value: String,
    },
    /// A step that is wrong by itself, with every kernel that uses it.
    #[error("{0}")]
    Step(Box<StepFailure>),
    /// A wrong case.
    #[error("{0}")]
    Wrong(Box<Failure>),
    /// A case file that cannot be used.
    #[error("{}: {reason}", path.display())]
    CaseFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// The property runner gave up.
    #[error("the cross-check stopped: {0}")]
    Aborted(String),
}

// A test that returns this error prints it with Debug.
impl fmt::Debug for CrossCheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn lines(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// What a case did wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    /// No plan for the case.
    Plan(String),
    /// A rule of the checked model, or a device that refuses the request.
    Device(String),
    /// The kernel ended the process it ran in.
    Ended(String),
    /// The kernel did not end; such a case is not shrunk, which the failure says.
    Hung(String),
    /// A closure of the author's panicked: which, and its words.
    Reference(String),
    /// The reference is not a number, or infinite, though every operand is finite.
    NotFinite {
        /// Token row.
        row: usize,
        /// Output column.
        column: usize,
        /// What the reference gives.
        expected: f64,
    },
    /// An output outside the tolerance.
    Output {
        /// Token row.
        row: usize,
        /// Output column.
        column: usize,
        /// What the kernel gave.
        got: f32,
        /// What the reference gives.
        expected: f64,
        /// The tolerance; 0 where the result must be exact.
        bound: f64,
        /// Outputs of the case outside the tolerance.
        outside: usize,
        /// Outputs compared.
        compared: usize,
    },
    /// A row flagged without overflow, or overflowed without flag.
    Flag {
        /// Token row.
        row: usize,
        /// Whether the kernel flagged it.
        flagged: bool,
        /// Largest partial sum by the reference.
        largest_partial: f64,
        /// What may be the reason: an operand or an output that is not finite.
        reason: Option<String>,
    },
    /// Bytes written that are no output of this request.
    Stray {
        /// Operand.
        operand: String,
        /// Byte of it.
        byte: usize,
        /// What that byte belongs to.
        place: String,
    },
    /// The fast model differs from the checked one.
    Bits {
        /// Token row.
        row: usize,
        /// Output column.
        column: usize,
        /// By the checked model.
        checked: f32,
        /// By the fast model.
        fast: f32,
    },
    /// A row that needed no retry changed when others were sent again.
    Unstable {
        /// Token row.
        row: usize,
    },
}

impl Wrong {
    /// Whether a smaller case that is wrong as `other` is still shows this: the same kind of failure, by the same rule of the
    /// checked model. A flag that is wrong may turn into a number that is, never the other way round.
    pub(super) fn shown_by(&self, other: &Wrong) -> bool {
        // `place: kernel, step at indices: rule (bytes and address)`.
        let rule = |text: &str| text.rsplit(": ").next().and_then(|rule| rule.split(" (").next()).map(str::to_owned);
        match (self, other) {
            (Wrong::Device(one), Wrong::Device(another)) => rule(one) == rule(another),
            (Wrong::Flag { .. }, Wrong::Output { .. }) => true,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Plan(text) => write!(f, "no plan: {text}"),
            Wrong::Device(text) | Wrong::Ended(text) | Wrong::Hung(text) | Wrong::Reference(text) => f.write_str(text),
            Wrong::NotFinite { row, column, expected } => write!(
                f,
                "the reference of the kernel gives {expected} for row {row}, column {column}, though every operand of the case is \
                 finite: a division by zero, a logarithm or a root in the closure?"
            ),
            Wrong::Output { row, column, got, expected, bound, outside, compared } => {
                write!(f, "row {row}, column {column}: got {got:e}, the reference says ")?;
                if *bound == 0.0 {
                    write!(f, "exactly {expected:e}")?;
                } else {
                    write!(f, "{expected:e} ± {bound:.2e}")?;
                }
                write!(f, " ({outside} of {compared} outputs are outside their tolerance)")
            }
            Wrong::Flag { row, reason: Some(reason), .. } => write!(f, "row {row}: {reason}"),
            Wrong::Flag { row, flagged: true, largest_partial, .. } => write!(
                f,
                "row {row} is flagged for retry, but its largest partial sum is {largest_partial:.0}: only what is not \
                 finite or reaches 60000 may be flagged"
            ),
            Wrong::Flag { row, largest_partial, .. } => write!(
                f,
                "row {row} has a partial sum of {largest_partial:.0} and is not flagged for retry: an overflow would pass \
                 as a number"
            ),
            Wrong::Stray { operand, byte, place } => {
                write!(f, "byte {byte} of operand `{operand}` was written, which is {place}")
            }
            Wrong::Bits { row, column, checked, fast } => write!(
                f,
                "row {row}, column {column}: the checked model gives {checked:e}, the fast one {fast:e}; both must give the \
                 same bits"
            ),
            Wrong::Unstable { row } => {
                write!(f, "row {row} changed when other rows were sent again with a smaller scale")
            }
        }
    }
}

/// A wrong case.
#[derive(Debug)]
pub struct Failure {
    /// Kernel.
    pub kernel: String,
    /// The case, shrunk if it was drawn.
    pub trial: Trial,
    /// Its plan.
    pub plan: String,
    /// What is wrong.
    pub wrong: Wrong,
    /// The file it was saved to, or why it could not be.
    pub saved: Option<Result<PathBuf, io::Error>>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`: {}\n  case: {}", self.kernel, self.wrong, self.trial)?;
        if !matches!(self.wrong, Wrong::Plan(_)) {
            write!(f, "\n  plan: {}", self.plan)?;
        }
        if matches!(self.wrong, Wrong::Hung(_)) && self.saved.is_some() {
            f.write_str("\n  as drawn: every try at a smaller case would take the time limit again")?;
        }
        match &self.saved {
            None => Ok(()),
            Some(Ok(path)) => {
                write!(
                    f,
                    "\n  saved: {path}\n  again: verify::replay(&kernel, {path:?}.as_ref())",
                    path = path.display()
                )
            }
            Some(Err(error)) => write!(f, "\n  not saved: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_failure_does_not_show_the_one_found() {
        let trap = |index: u32, rule: &str| {
            Wrong::Device(format!(
                "src/lib.rs:7:9: kernel `k`, step `load wq` at m={index}: {rule} (128 bytes at VTCM + 0x80)"
            ))
        };
        let output = Wrong::Output { row: 0, column: 0, got: 1.0, expected: 2.0, bound: 0.0, outside: 1, compared: 1 };
        let flag = Wrong::Flag { row: 0, flagged: true, largest_partial: 1.0, reason: None };
        assert!(trap(3, "a read of never-written bytes").shown_by(&trap(0, "a read of never-written bytes")));
        assert!(!trap(3, "a read of never-written bytes").shown_by(&trap(3, "a write outside every window")));
        assert!(!trap(3, "a read of never-written bytes").shown_by(&output) && !output.shown_by(&flag));
        assert!(flag.shown_by(&output) && output.shown_by(&output));
    }
}
