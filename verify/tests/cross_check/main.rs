//! The cross-check on the library kernels, and on kernels that are wrong.

mod conditional;
mod saved_cases;
mod silent_bugs;

use kernel_gen::{Kernel, library};
use verify::CrossCheck;

/// At least 3 000 in all.
const CASES_PER_KERNEL: u32 = 760;

fn check(kernel: Kernel) {
    let cases = std::env::var(verify::cross_check::CASES_VARIABLE).ok().and_then(|n| n.parse().ok());
    let mut check = CrossCheck::new(&kernel).expect("it compiles").cases(cases.unwrap_or(CASES_PER_KERNEL));
    if let Err(error) = check.run() {
        panic!("{error}");
    }
}

#[test]
fn forward_f16_computes_its_reference() {
    check(library::forward_f16());
}

#[test]
fn input_grad_f16_computes_its_reference() {
    check(library::input_grad_f16());
}

#[test]
fn forward_q8_computes_its_reference() {
    check(library::forward_q8());
}

#[test]
fn input_grad_q8_computes_its_reference() {
    check(library::input_grad_q8());
}
