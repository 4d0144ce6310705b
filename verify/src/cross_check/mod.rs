//! Any kernel against its own reference, in one call.
//!
//! ```no_run
//! # fn my_kernel() -> kernel_gen::Kernel { kernel_gen::library::forward_q8() }
//! verify::assert_kernel(&my_kernel());
//! ```
//!
//! The kernel's emitted C is compiled once for the checked and once for the fast functional model. Every case draws extents
//! with tails, legal tile sizes or the planner's own, an architecture, a range of token rows, data and one of the three
//! overflow behaviours, and must hold six things: the kernel returns to its caller, in time; no rule of the checked model
//! traps; every output lies within the kernel tolerance of the reference closure, and is exact where everything is a small
//! integer; rows are flagged for retry exactly when a partial sum overflows; nothing but the output rows asked for is
//! written; and both models give the same bits.
//!
//! Before that every step of the kernel's author is held against its own reference ([`crate::step_check`]).
//!
//! Kernels run in a process of their own, so a body that crashes, ends the process or never returns is a wrong case like another;
//! so is a reference that panics. A wrong case is shrunk and saved as JSON; [`replay`] runs it again.

mod bench;
mod case_file;
mod error;
mod judge;
mod outputs;
mod simpler;
mod strategy;
mod trial;
mod tunables;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kernel_gen::ddr::{DdrLayout, DdrLayouts};
use kernel_gen::{Kernel, Verified};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use bench::Bench;
pub use case_file::CaseFile;
pub use error::{CrossCheckError, Failure, Wrong};
pub use trial::{Tiles, Trial};

/// Cases when nothing else is said; the variable [`CASES_VARIABLE`] asks for more.
pub const CASES: u32 = 256;
/// Environment variable with the number of cases of every cross-check that does not set its own.
pub const CASES_VARIABLE: &str = "PERMAFROST_CASES";
/// Folder wrong cases are saved to unless [`CrossCheck::save_to`] says otherwise.
pub const CASE_FOLDER: &str = "kernel-cases";

/// Cases run to simplify a wrong one further than proptest does.
const MOST_SIMPLIFICATIONS: u32 = 500;

/// What [`CASES_VARIABLE`] asks for, or `default` without it.
///
/// # Errors
/// A value that is no number of cases: a night's run must not turn into a short one unseen.
pub fn cases_asked(default: u32) -> Result<u32, CrossCheckError> {
    match std::env::var_os(CASES_VARIABLE) {
        None => Ok(default),
        Some(value) => read_cases(&value.to_string_lossy()),
    }
}

fn read_cases(value: &str) -> Result<u32, CrossCheckError> {
    value.parse().ok().filter(|cases| *cases > 0).ok_or_else(|| CrossCheckError::Cases { value: value.to_owned() })
}

/// A cross-check of one kernel, ready to run.
pub struct CrossCheck {
    bench: Bench,
    cases: u32,
    largest: usize,
    folder: PathBuf,
}

/// Checks `kernel` against its reference.
///
/// # Panics
/// With the rule it breaks, or the smallest case that is wrong and the file it was saved to.
#[track_caller]
pub fn assert_kernel(kernel: &Kernel) {
    if let Err(error) = CrossCheck::new(kernel).and_then(|mut check| check.run()) {
        panic!("{error}");
    }
}

/// Runs a saved case of `kernel` again.
///
/// # Errors
/// As [`CrossCheck::run`], and [`CrossCheckError::CaseFile`].
pub fn replay(kernel: &Kernel, file: &Path) -> Result<(), CrossCheckError> {
    CrossCheck::new(kernel)?.replay(file)
}

impl CrossCheck {
    /// Verifies and compiles `kernel`.
    ///
    /// # Errors
    /// Broken rules, refused C, or a model that cannot be loaded.
    pub fn new(kernel: &Kernel) -> Result<CrossCheck, CrossCheckError> {
        CrossCheck::of(kernel_gen::verify(kernel).map_err(CrossCheckError::Rules)?)
    }

    /// A kernel that is verified already, or emitted with a defect.
    ///
    /// # Errors
    /// Refused C, or a model that cannot be loaded.
    pub fn of(kernel: Verified) -> Result<CrossCheck, CrossCheckError> {
        let library = kernel_gen::emit_library(std::slice::from_ref(&kernel));
        CrossCheck::with_c(kernel, &library)
    }

    /// A kernel with C of its own in place of what [`kernel_gen::emit_library`] gives: for tests that alter it.
    ///
    /// # Errors
    /// Refused C, or a model that cannot be loaded.
    pub fn with_c(kernel: Verified, library: &str) -> Result<CrossCheck, CrossCheckError> {
        let cases = cases_asked(CASES)?;
        let bench = Bench::new(kernel, library)?;
        Ok(CrossCheck { bench, cases, largest: 128, folder: CASE_FOLDER.into() })
    }

    /// Cases to draw, at least 1.
    #[must_use]
    pub fn cases(mut self, cases: u32) -> CrossCheck {
        self.cases = cases;
        self
    }

    /// Largest extent to draw, at least 1; in one case out of ten one axis is up to eight times as long.
    #[must_use]
    pub fn largest(mut self, extent: usize) -> CrossCheck {
        self.largest = extent.max(1);
        self
    }

    /// How operands of a layout the language does not know lie in DDR.
    #[must_use]
    pub fn layout(mut self, layout: impl DdrLayout + Send + Sync + 'static) -> CrossCheck {
        let layouts = std::mem::replace(&mut self.bench.layouts, DdrLayouts::standard());
        self.bench.layouts = layouts.with(layout);
        self
    }

    /// Processor time one run of the kernel may take before it counts as one that does not end; whole seconds.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> CrossCheck {
        self.bench.set_limit(limit);
        self
    }

    /// Folder a wrong case is saved to; made if it is not there.
    #[must_use]
    pub fn save_to(mut self, folder: impl Into<PathBuf>) -> CrossCheck {
        self.folder = folder.into();
        self
    }

    /// Checks the steps of the kernel by themselves, then draws and runs the cases; returns how many were run.
    ///
    /// # Errors
    /// [`CrossCheckError::Step`] with the first wrong element of a step, and
    /// [`CrossCheckError::Wrong`] with the smallest wrong case found.
    pub fn run(&mut self) -> Result<u32, CrossCheckError> {
        if self.cases == 0 {
            return Err(CrossCheckError::Cases { value: "0".to_owned() });
        }
        self.bench.check_layouts()?;
        self.bench.check_steps()?;
        let strategy = strategy::trials(self.bench.kernel(), self.largest);
        let config =
            Config { cases: self.cases, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
        let bench = RefCell::new(&mut self.bench);
        // Every case that does not end costs the time limit, so the first one is neither shrunk nor run again.
        let hung: RefCell<Option<(Trial, Wrong)>> = RefCell::new(None);
        // A smaller case that is wrong in another way would hide what was found.
        let found: RefCell<Option<Wrong>> = RefCell::new(None);
        let result = TestRunner::new(config).run(&strategy, |trial| {
            if hung.borrow().is_some() {
                return Ok(());
            }
            bench.borrow_mut().run(&trial).or_else(|wrong| {
                let words = wrong.to_string();
                if found.borrow().as_ref().is_some_and(|found| !found.shown_by(&wrong)) {
                    return Ok(());
                }
                if matches!(wrong, Wrong::Hung(_)) {
                    hung.replace(Some((trial, wrong.clone())));
                }
                found.replace(Some(wrong));
                Err(TestCaseError::fail(words))
            })
        });
        if let Some((trial, wrong)) = hung.into_inner() {
            return Err(self.failure_of(trial, wrong));
        }
        match result {
            Ok(()) => Ok(self.cases),
            Err(TestError::Fail(_, trial)) => Err(self.failure(trial)),
            Err(TestError::Abort(reason)) => Err(CrossCheckError::Aborted(reason.to_string())),
        }
    }

    /// Runs one case.
    ///
    /// # Errors
    /// [`CrossCheckError::Wrong`]; nothing is shrunk or saved.
    pub fn run_trial(&mut self, trial: &Trial) -> Result<(), CrossCheckError> {
        self.bench.check_layouts()?;
        let plan = self.bench.plan_text(trial);
        self.bench.run(trial).map_err(|wrong| {
            let kernel = self.bench.kernel().kernel().name.clone();
            CrossCheckError::Wrong(Box::new(Failure { kernel, trial: trial.clone(), plan, wrong, saved: None }))
        })
    }

    /// Runs a saved case.
    ///
    /// # Errors
    /// As [`Self::run_trial`], and [`CrossCheckError::CaseFile`].
    pub fn replay(&mut self, file: &Path) -> Result<(), CrossCheckError> {
        let case = CaseFile::read(file, &self.bench.kernel().kernel().name)?;
        self.run_trial(&case.trial)
    }

    /// The failure of a trial that has just been found wrong.
    fn failure(&mut self, trial: Trial) -> CrossCheckError {
        let Err(wrong) = self.bench.run(&trial) else {
            return CrossCheckError::Aborted(format!("{trial} was wrong once and right when run again"));
        };
        let (trial, wrong) = self.simplify(trial, wrong);
        self.failure_of(trial, wrong)
    }

    /// The failure of a trial as it is, saved.
    fn failure_of(&self, trial: Trial, wrong: Wrong) -> CrossCheckError {
        let kernel = self.bench.kernel().kernel().name.clone();
        let case = CaseFile { kernel: kernel.clone(), trial: trial.clone(), wrong: wrong.to_string() };
        let saved = Some(case.save(&self.folder));
        let plan = self.bench.plan_text(&trial);
        CrossCheckError::Wrong(Box::new(Failure { kernel, trial, plan, wrong, saved }))
    }

    /// The simplest case found that is wrong in the same way.
    fn simplify(&mut self, mut trial: Trial, mut wrong: Wrong) -> (Trial, Wrong) {
        let mut runs = 0;
        'again: loop {
            for case in simpler::simpler(self.bench.kernel(), &trial) {
                runs += 1;
                if runs > MOST_SIMPLIFICATIONS {
                    break 'again;
                }
                if let Err(other) = self.bench.run(&case)
                    && wrong.shown_by(&other)
                {
                    (trial, wrong) = (case, other);
                    continue 'again;
                }
            }
            break;
        }
        (trial, wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_cases_is_read_or_refused() {
        assert_eq!(read_cases("20000").unwrap(), 20_000);
        for wrong in ["0", "20k", "-3", ""] {
            let error = read_cases(wrong).unwrap_err().to_string();
            assert!(error.contains("whole number from 1 on"), "{error}");
        }
    }
}
