//! LoRA adapters: parameters, their gradients, and the PEFT files they live in.

mod layout;
mod peft;
mod start;
mod write;

pub use layout::{Adapter, AdapterGrads, LoraPair, ProjectionShape};
pub use peft::{AdapterError, BaseModel};
pub use start::{AdapterOptions, DEFAULT_ALPHA, DEFAULT_RANK};
