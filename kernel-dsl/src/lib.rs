//! The `kernel!` macro: a schedule language for tiled matrix-product kernels on the Hexagon NPU.
//!
//! The macro parses a kernel, checks everything that needs no sizes, and expands to a function that builds a
//! `kernel_gen::Kernel`. Every mistake is a compile error at the token it concerns, several per run; a broken kernel still
//! expands to a function of the right type, so that the rest of the crate type-checks. What needs sizes (VTCM capacity, DMA
//! fields) is checked by `kernel_gen`, which knows the source position of every step.
//!
//! The language is described in `docs/kernel-language.md`.

mod body_text;
mod c_body;
mod check;
mod expand;
#[cfg(test)]
mod mangled;
mod near;
mod parse;
mod report;
mod requirement;
mod rules;
mod tree;
mod version;

use proc_macro::TokenStream;

/// Defines one or more kernels; each becomes `fn name() -> kernel_gen::Kernel`.
#[proc_macro]
pub fn kernel(input: TokenStream) -> TokenStream {
    expand::macro_input(input.into()).into()
}
