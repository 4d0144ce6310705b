//! Models whose logits, losses, gradients and training curves are known from PyTorch. Runs every
//! folder of `verify/reference` and every folder below `PERMAFROST_REFERENCE`.

mod bits;
mod case;
mod cases;
mod curve;
mod derivative;
mod folder;
mod inference;
mod layouts;
mod measured;
mod npu;
mod tensors;
