//! Kernels altered at random: the verifier, the planner, the lowering and `explain` give errors or results, never a panic; and
//! what the verifier accepts is C that compiles and breaks no rule of the checked model.
//!
//! A few seconds are tried with every test run; `PERMAFROST_FUZZ_SECONDS=600` tries as long as it says.

mod alteration;

use std::cell::RefCell;
use std::collections::HashSet;
use std::env;
use std::time::{Duration, Instant};

use kernel_gen::explain::explain;
use kernel_gen::plan::solve;
use kernel_gen::{Arch, Kernel, Verified, emit_c, fnv1a_64, library, verify as check_kernel};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use verify::cross_check::Wrong;
use verify::{CrossCheck, CrossCheckError};

use alteration::{Dice, alter};

/// Kernels of one round.
const CASES: u32 = 10_000;
/// Kernels run on the models without the variable; with it, one of so many.
const RUN: usize = 6;
/// Cases of a kernel that is run.
const CASES_PER_KERNEL: u32 = 24;

/// What came of some altered kernels.
#[derive(Default)]
struct Tally {
    tried: usize,
    sound: usize,
    planned: usize,
    run: usize,
    /// Of those run: how many compute something else than the reference they were altered under.
    other_product: usize,
    /// Emitted C that was run, or passed over, already.
    seen: HashSet<u64>,
    /// A kernel broke something: what follows are smaller ones, which shrinking must see to the end.
    broken: bool,
}

/// Everything that needs no compiler.
fn survives(kernel: &Verified, tally: &mut Tally) {
    for arch in Arch::ALL {
        assert!(emit_c(kernel, arch).contains("_run(dev, plan, request);"));
        for axes in [[1, 1, 1], [100, 96, 64], [3431, 2560, 9728], [u32::MAX, 1, 1], [1 << 24, 1 << 24, 1 << 24]] {
            for vtcm in [8 << 20, 16 << 10, 0, u32::MAX] {
                let Ok(plan) = solve(kernel, arch, &axes, vtcm) else { continue };
                assert!(plan.vtcm_bytes < vtcm, "{plan}");
                assert!(!explain(kernel, &plan, 0..axes[0]).to_string().is_empty());
                tally.planned += 1;
            }
        }
    }
}

/// Runs a kernel on both models. Its reference may be that of another product, so only what no reference excuses counts.
fn runs_clean(kernel: &Verified, tally: &mut Tally) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check = CrossCheck::of(kernel.clone()).map_err(|error| TestCaseError::fail(error.to_string()))?;
    tally.run += 1;
    match check.cases(CASES_PER_KERNEL).largest(80).save_to(folder.path()).run() {
        Ok(_) | Err(CrossCheckError::Layout(_) | CrossCheckError::Aborted(_)) => Ok(()),
        Err(CrossCheckError::Wrong(failure)) => match failure.wrong {
            Wrong::Output { .. } | Wrong::Flag { .. } => {
                tally.other_product += 1;
                println!("another product: {failure}");
                Ok(())
            }
            Wrong::Plan(_) => Ok(()),
            _ => Err(TestCaseError::fail(failure.to_string())),
        },
        Err(other) => Err(TestCaseError::fail(other.to_string())),
    }
}

/// Whether a kernel is to be compiled and run: C that is new, a few kernels or one of [`RUN`].
fn chosen(kernel: &Verified, long: bool, tally: &mut Tally) -> bool {
    let c = emit_c(kernel, Arch::V79);
    let hash = fnv1a_64(c.as_bytes());
    tally.seen.insert(hash) && if long { hash.is_multiple_of(RUN as u64) } else { tally.run < RUN }
}

/// An error, or sound: planned, explained, and some of them run.
fn judged(kernel: &Kernel, long: bool, tally: &mut Tally) -> Result<(), TestCaseError> {
    tally.tried += 1;
    let Ok(verified) = check_kernel(kernel) else { return Ok(()) };
    tally.sound += 1;
    survives(&verified, tally);
    if chosen(&verified, long, tally) { runs_clean(&verified, tally) } else { Ok(()) }
}

/// The kernels of one seed; those drawn behind the deadline of a long run are passed over.
fn round(kernels: &[Kernel], seed: u64, deadline: Option<Instant>, tally: &RefCell<Tally>) {
    let config =
        Config { cases: CASES, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    let strategy = (0..kernels.len(), 1..5usize, vec(any::<u32>(), 4..48));
    let result = TestRunner::new(config).run(&strategy, |(index, changes, choices)| {
        let mut tally = tally.borrow_mut();
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late && tally.run >= RUN && !tally.broken {
            return Ok(());
        }
        let mut kernel = kernels[index].clone();
        let mut dice = Dice::new(&choices);
        for _ in 0..changes {
            alter(&mut kernel, &mut dice);
        }
        let broken = tally.broken;
        tally.broken = true;
        judged(&kernel, deadline.is_some(), &mut tally)?;
        tally.broken = broken;
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn altered_kernels_are_errors_or_sound() {
    let kernels: Vec<_> = library::all().into_iter().chain(library::extra()).collect();
    let seconds: Option<u64> = env::var("PERMAFROST_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let deadline = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    // Only kernels that an alteration changed are worth running.
    let unaltered = |kernel: &Kernel| fnv1a_64(emit_c(&check_kernel(kernel).expect("sound"), Arch::V79).as_bytes());
    let tally = RefCell::new(Tally { seen: kernels.iter().map(unaltered).collect(), ..Tally::default() });
    for seed in 0.. {
        round(&kernels, seed, deadline, &tally);
        if deadline.is_none_or(|deadline| Instant::now() >= deadline) {
            break;
        }
    }
    let Tally { tried, sound, planned, run, other_product, .. } = tally.into_inner();
    println!(
        "{tried} altered kernels: {sound} sound with {planned} plans; {run} run, {other_product} of them another product"
    );
    assert!(sound > tried / 50, "only {sound} of {tried} altered kernels were sound: the planner was hardly tried");
    assert!(run >= RUN, "only {run} altered kernels were run");
}
