//! The crate `permafrost kernel new` writes, compiled and run from its own files.

#[path = "../../trainer/src/cli/kernel/template/lib.rs"]
mod my_kernel;

include!("../../trainer/src/cli/kernel/template/cross_check.rs");
