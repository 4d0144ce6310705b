//! AdamW, gradient clipping and learning-rate schedules.

mod adamw;
mod clip;
mod schedule;

pub use adamw::{AdamW, AdamWOptions};
pub use clip::{clip, global_norm};
pub use schedule::{LearningRate, Schedule};
