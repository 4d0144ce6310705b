//! The cross-check on the library kernels, and on kernels that are wrong.

mod authored;
mod broken_bodies;
mod broken_references;
mod conditional;
mod layouts;
mod saved_cases;
mod silent_bugs;
mod steps;

use kernel_gen::{Kernel, library};
use verify::CrossCheck;
use verify::cross_check::cases_asked;

/// At least 3 000 in all.
const CASES_PER_KERNEL: u32 = 340;

fn check(kernel: &Kernel) {
    let cases = cases_asked(CASES_PER_KERNEL).expect("a number of cases");
    let mut check = CrossCheck::new(kernel).expect("it compiles").cases(cases);
    match check.run() {
        Ok(cases) => println!("{}: {cases} cases", kernel.name),
        Err(error) => panic!("{error}"),
    }
}

/// One test per kernel, and one that no kernel of the library is forgotten.
macro_rules! kernels {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(&library::$name());
        })*

        #[test]
        fn every_library_kernel_is_checked() {
            let checked = [$(stringify!($name)),*];
            for kernel in library::all().into_iter().chain(library::extra()) {
                assert!(checked.contains(&kernel.name.as_str()), "{} has no cross-check here", kernel.name);
            }
            assert!(checked.len() as u32 * CASES_PER_KERNEL >= 3000);
        }
    };
}

kernels! {
    forward_f16
    input_grad_f16
    forward_q8
    input_grad_q8
    input_grad_f16_swap
    forward_q4
    input_grad_q4
    forward_q8_blocks
    forward_f16_column_affine
}
