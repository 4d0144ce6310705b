//! The frozen projections of a model, by its configuration alone.

use super::config::ModelConfig;
use super::qwen3_5;
use hexagon_runtime::{Precision, Q8_BLOCK_BYTES};

/// Weights that share a Q8_0 scale.
const Q8_BLOCK: usize = 32;

/// Where a projection stands in the network; the precision policy goes by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProjectionKind {
    /// In a DeltaNet layer: its error enters a state that lives for the whole sequence.
    Recurrent,
    /// q, k, v, o of an attention layer.
    Attention,
    /// gate, up, down.
    Mlp,
    /// The vocabulary product, computed on the CPU from the embedding table or `lm_head`.
    Head,
}

/// A frozen weight matrix, `[rows, cols]` = `[out, in]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// Checkpoint name without `.weight`, e.g. `model.layers.0.self_attn.q_proj`.
    pub name: String,
    /// Output features.
    pub rows: usize,
    /// Input features.
    pub cols: usize,
    /// Where it stands in the network.
    pub kind: ProjectionKind,
}

impl Projection {
    /// Number of weights.
    pub fn parameters(&self) -> u64 {
        self.rows as u64 * self.cols as u64
    }

    /// Bytes of the weights in a precision, without padding to whole tiles.
    pub fn bytes(&self, precision: Precision) -> u64 {
        match precision {
            Precision::F32 => 4 * self.parameters(),
            Precision::F16 => 2 * self.parameters(),
            Precision::Q8 => (self.rows * self.cols.div_ceil(Q8_BLOCK) * Q8_BLOCK_BYTES) as u64,
        }
    }
}

impl ModelConfig {
    /// Every frozen projection that runs on the NPU, in model order. Projections that share an input are neighbours.
    pub fn projections(&self) -> Vec<Projection> {
        (0..self.layers).flat_map(|layer| self.layer_projections(layer)).collect()
    }

    /// The projections of one layer: those of its mixer (q, k, v, o, or the five of a DeltaNet layer), then gate, up,
    /// down.
    pub fn layer_projections(&self, layer: usize) -> Vec<Projection> {
        let mut all = match self.recurrent(layer) {
            Some(delta) => qwen3_5::projections(self, delta, layer),
            None => self.attention(layer),
        };
        let (hidden, inner) = (self.hidden, self.intermediate);
        let mlp = [("gate_proj", inner, hidden), ("up_proj", inner, hidden), ("down_proj", hidden, inner)];
        all.extend(mlp.map(|(part, rows, cols)| Projection {
            name: format!("model.layers.{layer}.mlp.{part}"),
            rows,
            cols,
            kind: ProjectionKind::Mlp,
        }));
        all
    }

    fn attention(&self, layer: usize) -> Vec<Projection> {
        let (values, keys) = (self.heads * self.head_dim, self.kv_heads * self.head_dim);
        [
            ("q_proj", self.query_rows(), self.hidden),
            ("k_proj", keys, self.hidden),
            ("v_proj", keys, self.hidden),
            ("o_proj", self.hidden, values),
        ]
        .map(|(part, rows, cols)| Projection {
            name: format!("model.layers.{layer}.self_attn.{part}"),
            rows,
            cols,
            kind: ProjectionKind::Attention,
        })
        .into()
    }

    /// The vocabulary product: `lm_head`, or the embedding itself when the head is tied. Not among
    /// [`ModelConfig::projections`], because it runs on the CPU.
    pub fn head_projection(&self) -> Projection {
        let name = if self.tied_head { "model.embed_tokens" } else { "lm_head" };
        Projection { name: name.into(), rows: self.vocab, cols: self.hidden, kind: ProjectionKind::Head }
    }
}
