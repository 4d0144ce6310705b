//! The `permafrost` binary.
fn main() {}
