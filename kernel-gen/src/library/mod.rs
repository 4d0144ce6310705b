//! The kernels of Permafrost, one file each, written in the kernel language.
//!
//! Axes of all: 0 = tokens `m`, 1 = output features `n`, 2 = input features `k`. Operands: 0 = token rows in, 1 = weight,
//! 2 = token rows out.

mod forward_f16;
mod forward_q8;
mod input_grad_f16;
mod input_grad_q8;

pub use forward_f16::forward_f16;
pub use forward_q8::forward_q8;
pub use input_grad_f16::input_grad_f16;
pub use input_grad_q8::input_grad_q8;

use crate::Kernel;

/// Every library kernel.
pub fn all() -> Vec<Kernel> {
    vec![forward_f16(), input_grad_f16(), forward_q8(), input_grad_q8()]
}
