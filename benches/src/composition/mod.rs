//! The training step of a Qwen3.5 model composed of separate operators, as an eager framework runs it: the reference that
//! the trainer's fused nodes are measured against. Every operator is a function over whole tensors, writes its output to a
//! newly allocated tensor, and leaves on a tape what its backward needs. Frozen products go through the trainer's own
//! runtime and the others through its GEMM, so that what differs is fusion.

mod convolution;
mod delta_rule;
mod elementwise;
mod heads;
mod layer;
mod load;
mod norm;
mod product;
mod softmax;
mod step;
mod tape;

pub use load::{Composition, Registered};
pub use step::Step;
