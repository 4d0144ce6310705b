//! The emitted C of every library kernel, to be read in review.

use kernel_gen::{Arch, emit_c, library, verify};

#[test]
fn emitted_c_of_the_library() {
    for kernel in library::all().into_iter().chain(library::extra()) {
        let verified = verify(&kernel).unwrap();
        let c = emit_c(&verified, Arch::V79);
        assert_eq!(c, emit_c(&verified, Arch::V81), "{} has no part that differs by architecture", kernel.name);
        insta::assert_snapshot!(kernel.name.clone(), c);
    }
}
