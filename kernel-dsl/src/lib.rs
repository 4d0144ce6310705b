//! The `kernel!` macro.
