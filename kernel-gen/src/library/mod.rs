//! The kernels of Permafrost, one file each, written in the kernel language.
//!
//! Axes of all: 0 = tokens `m`, 1 = output features `n`, 2 = input features `k`. Operands: 0 = token rows in, 1 = weight,
//! 2 = token rows out; column vectors follow.

mod forward_f16;
mod forward_f16_column_affine;
mod forward_q4;
mod forward_q8;
mod forward_q8_blocks;
mod input_grad_f16;
mod input_grad_f16_swap;
mod input_grad_q4;
mod input_grad_q8;

pub use forward_f16::forward_f16;
pub use forward_f16_column_affine::forward_f16_column_affine;
pub use forward_q4::forward_q4;
pub use forward_q8::forward_q8;
pub use forward_q8_blocks::forward_q8_blocks;
pub use input_grad_f16::input_grad_f16;
pub use input_grad_f16_swap::input_grad_f16_swap;
pub use input_grad_q4::input_grad_q4;
pub use input_grad_q8::input_grad_q8;

use crate::Kernel;

/// Every library kernel: what the runtime is built with.
pub fn all() -> Vec<Kernel> {
    vec![forward_f16(), input_grad_f16(), forward_q8(), input_grad_q8()]
}

/// Kernels the runtime does not use, written with nothing but the language: an alternative schedule, two more weight
/// formats, a fused epilogue.
pub fn extra() -> Vec<Kernel> {
    vec![input_grad_f16_swap(), forward_q4(), input_grad_q4(), forward_q8_blocks(), forward_f16_column_affine()]
}
