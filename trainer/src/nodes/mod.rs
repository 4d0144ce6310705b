//! Fused nodes: each file declares a node's forward, its hand-derived backward and what it costs to
//! compute its output again, together. Everything is row-major, one row per token, in f32; nodes are generic over
//! [`Real`] so that tests can hold backward passes against differences in f64. Reductions
//! have a fixed order, so that results do not depend on the order in which threads finish.

mod attention;
mod delta_net;
#[cfg(test)]
mod difference;
mod dropout;
mod embedding;
mod exp;
mod head;
mod lora;
mod output_gate;
mod product;
mod real;
mod reduce;
mod rms_norm;
mod rope;
mod swiglu;
mod vectorised;

pub(crate) use attention::cut;
pub use attention::{AttentionShape, Visible, attend, attention_backward, attention_forward};
pub(crate) use delta_net::CHUNK as DELTA_CHUNK;
pub use delta_net::{
    DeltaGrads, DeltaInput, DeltaShape, DeltaStart, DeltaState, DeltaWeights, delta_net_backward, delta_net_continue,
    delta_net_forward,
};
pub(crate) use dropout::unit;
pub use dropout::{DropoutKey, mix};
pub use embedding::EmbeddingTable;
pub use exp::exp;
pub(crate) use head::{WIDENED as HEAD_WIDENED, rows_at_a_time};
pub use head::{head_backward, head_log_probs, head_logits, head_loss_and_grad};
pub use lora::LoraGroup;
pub use output_gate::{output_gate, output_gate_backward};
pub use product::{Matrix, MatrixMut, Threads, multiply};
pub use real::Real;
pub use reduce::{dot, max, sum, sum_of_squares};
pub use rms_norm::{rms_norm, rms_norm_backward};
pub use rope::{HeadNorm, HeadRows, Rotation};
pub(crate) use rope::{inverse_frequencies, join_heads, split_heads};
pub use swiglu::{swiglu, swiglu_backward};
pub use vectorised::vectorised;
