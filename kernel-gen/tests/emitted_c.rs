//! The emitted C of every library kernel, to be read in review.

use kernel_gen::{emit_c, library, verify};

#[test]
fn emitted_c_of_the_library() {
    for kernel in library::all().into_iter().chain(library::extra()) {
        let verified = verify(&kernel).unwrap();
        insta::assert_snapshot!(kernel.name.clone(), emit_c(&verified));
    }
}
