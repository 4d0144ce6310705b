//! Fused nodes: each file declares a node's forward, its hand-derived backward and what it costs to
//! compute its output again, together. Everything is row-major f32, one row per token. Reductions
//! have a fixed order, so that results do not depend on the order in which threads finish.

mod attention;
mod cost;
mod dropout;
mod embedding;
mod exp;
mod head;
mod lora;
mod product;
mod reduce;
mod rms_norm;
mod rope;
mod swiglu;

pub(crate) use attention::cut;
pub use attention::{AttentionShape, Visible, attend, attention_backward, attention_cost, attention_forward};
pub use cost::Cost;
pub(crate) use dropout::unit;
pub use dropout::{DropoutKey, mix};
pub use embedding::EmbeddingTable;
pub use exp::{exp, sigmoid};
pub use head::{head_backward, head_log_probs, head_logits, head_loss_and_grad};
pub use lora::{LoraGroup, lora_cost};
pub use product::{Matrix, MatrixMut, Threads, multiply};
pub use reduce::{dot, sum_of_squares};
pub use rms_norm::{rms_norm, rms_norm_backward, rms_norm_cost};
pub use rope::Rotation;
pub(crate) use rope::{inverse_frequencies, join_heads, split_heads};
pub use swiglu::{swiglu, swiglu_backward, swiglu_cost};
