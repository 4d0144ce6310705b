//! What the check of a step says.

use std::fmt;

use half::f16;
use hexagon_runtime::device::CompileError;
use kernel_gen::ir::{HvxStep, Source};

use super::{Tile, place, same, sees};

const ELEMENTS: usize = 1024;

/// Why the check of a step did not pass.
#[derive(thiserror::Error)]
pub enum StepCheckError {
    /// gcc is missing or refused the body.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The body or the reference is wrong.
    #[error("{0}")]
    Wrong(Box<StepFailure>),
}

// A test that returns this error prints it with Debug.
impl fmt::Debug for StepCheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A step that is wrong.
#[derive(Debug)]
pub struct StepFailure {
    /// Name.
    pub step: String,
    /// Where it is defined.
    pub source: Source,
    /// What is wrong.
    pub wrong: WrongStep,
}

impl fmt::Display for StepFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: step `{}`, run by itself: {}", self.source, self.step, self.wrong)
    }
}

/// What a step does wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum WrongStep {
    /// The reference panicked: its words.
    Reference(String),
    /// A rule of the checked model, a crash, or no end.
    Stopped(String),
    /// An element that is not the reference rounded once.
    Element {
        /// Its place in the tile.
        at: (usize, usize),
        /// By the body.
        got: f16,
        /// By the reference.
        expected: f16,
        /// What the input has at this place, with the words of the reference for it.
        sees: Option<(&'static str, f64)>,
        /// Elements of the tile that are wrong.
        wrong: usize,
        /// What the tile is filled with.
        family: &'static str,
    },
    /// The fast model differs from the checked one.
    Bits {
        /// The element's place in the tile.
        at: (usize, usize),
        /// By the checked model.
        checked: f16,
        /// By the fast model.
        fast: f16,
        /// What the tile is filled with.
        family: &'static str,
    },
}

impl WrongStep {
    /// The first wrong element of all tiles, the `at`th in memory.
    pub(super) fn element(step: &HvxStep, tiles: &[Tile], at: usize, got: &[f16], expected: &[f16]) -> WrongStep {
        let tile = &tiles[at / ELEMENTS];
        let (p, q) = place(at % ELEMENTS);
        let whole = at / ELEMENTS * ELEMENTS..(at / ELEMENTS + 1) * ELEMENTS;
        WrongStep::Element {
            at: (p, q),
            got: got[at],
            expected: expected[at],
            sees: sees(step, tile, p, q),
            wrong: whole.filter(|&at| !same(got[at], expected[at])).count(),
            family: tile.family,
        }
    }

    pub(super) fn bits(tiles: &[Tile], at: usize, checked: &[f16], fast: &[f16]) -> WrongStep {
        let family = tiles[at / ELEMENTS].family;
        WrongStep::Bits { at: place(at % ELEMENTS), checked: checked[at], fast: fast[at], family }
    }
}

impl fmt::Display for WrongStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongStep::Reference(said) => write!(f, "its reference panicked: {said}"),
            WrongStep::Stopped(said) => f.write_str(said),
            WrongStep::Element { at: (p, q), got, expected, sees, wrong, family } => {
                write!(f, "element ({p}, {q}) of the FP16 tile is {got} by the body and {expected} by the reference")?;
                if let Some((what, value)) = sees {
                    write!(f, "; {what}({p}, {q}) is {value}")?;
                }
                write!(f, " ({wrong} of {ELEMENTS} elements differ; the input tile: {family})")?;
                if got.is_finite() && expected.is_finite() && neighbours(*got, *expected) {
                    f.write_str(
                        ". They are neighbours in FP16: the reference is rounded once, at its end, and where the body rounds \
                         in between the reference must too, as in f16::from_f64(…).to_f64()",
                    )?;
                }
                Ok(())
            }
            WrongStep::Bits { at: (p, q), checked, fast, family } => write!(
                f,
                "element ({p}, {q}) of the FP16 tile is {checked} on the checked model and {fast} on the fast one; both must \
                 give the same bits (the input tile: {family})"
            ),
        }
    }
}

/// Whether no FP16 number lies between the two.
fn neighbours(a: f16, b: f16) -> bool {
    let ordered = |x: f16| {
        let magnitude = i32::from(x.to_bits() & 0x7FFF);
        if x.is_sign_negative() { -magnitude } else { magnitude }
    };
    (ordered(a) - ordered(b)).abs() == 1
}
