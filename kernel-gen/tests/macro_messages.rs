//! What the macro says about kernels that are wrong, word for word, and that right ones pass.

#[test]
fn kernels_that_must_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}

#[test]
fn kernels_that_must_compile() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}
