//! What the tape keeps of one layer, in bytes.

use std::ops::Range;

use super::choice::LayerBytes;
use crate::flops::layer_recompute_flops;
use crate::registry::{DeltaNet, ModelConfig};

const F32: u64 = 4;

/// The two kinds of mixer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LayerKind {
    /// Causal attention.
    Attention,
    /// Gated DeltaNet.
    Recurrent,
}

impl LayerKind {
    /// The kind of a layer.
    pub fn of(config: &ModelConfig, layer: usize) -> LayerKind {
        match config.recurrent(layer) {
            Some(_) => LayerKind::Recurrent,
            None => LayerKind::Attention,
        }
    }

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            LayerKind::Attention => "attention",
            LayerKind::Recurrent => "recurrent",
        }
    }
}

/// One thing the tape keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// What it is.
    pub name: &'static str,
    /// Its size.
    pub bytes: u64,
}

/// What the tape keeps of one layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerActivations {
    /// Its kind.
    pub kind: LayerKind,
    /// Bytes of the layer's input, kept whether the layer is stored or computed again.
    pub input: u64,
    /// What is kept beside it if the layer is stored.
    pub buffers: Vec<Buffer>,
}

impl LayerActivations {
    /// Bytes of a stored layer, beside its input.
    pub fn stored(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.bytes).sum()
    }
}

/// Bytes of layer `layer` for sequences of `lengths` tokens, packed one after the other, with an adapter of rank `rank`
/// on every projection. All values are f32.
pub fn layer_activations(config: &ModelConfig, layer: usize, lengths: &[usize], rank: usize) -> LayerActivations {
    let tokens: u64 = lengths.iter().map(|&length| length as u64).sum();
    let rows = |name, width: usize| Buffer { name, bytes: F32 * tokens * width as u64 };
    let mut buffers = match config.recurrent(layer) {
        Some(delta) => recurrent(delta, &rows),
        None => attention(config, &rows),
    };
    buffers.extend([
        rows("residual before the MLP", config.hidden),
        rows("gate", config.intermediate),
        rows("up", config.intermediate),
        rows("A·x of the adapters", rank * config.layer_projections(layer).len()),
    ]);
    let input = F32 * tokens * config.hidden as u64;
    LayerActivations { kind: LayerKind::of(config, layer), input, buffers }
}

fn attention(config: &ModelConfig, rows: &dyn Fn(&'static str, usize) -> Buffer) -> Vec<Buffer> {
    let (queries, keys) = (config.heads * config.head_dim, config.kv_heads * config.head_dim);
    vec![
        rows("queries (and gates)", config.query_rows()),
        rows("keys", keys),
        rows("values", keys),
        rows("attention output", queries),
        rows("log-sum-exp of the scores", config.heads),
    ]
}

/// No state is kept: the backward pass makes those of one head at a time again.
fn recurrent(delta: &DeltaNet, rows: &dyn Fn(&'static str, usize) -> Buffer) -> Vec<Buffer> {
    vec![
        rows("input of the convolution", delta.channels()),
        rows("output gate", delta.values()),
        rows("decay and write gates", 2 * delta.value_heads),
        rows("output of the delta rule", delta.values()),
    ]
}

/// What [`super::choose`] weighs, for each of `layers`: bytes, and operations to compute a layer again.
pub fn layer_bytes(config: &ModelConfig, layers: Range<usize>, lengths: &[usize], rank: usize) -> Vec<LayerBytes> {
    let one = |layer| {
        let kept = layer_activations(config, layer, lengths, rank);
        let recompute_flops = layer_recompute_flops(config, layer, lengths, rank).total();
        LayerBytes { input: kept.input, stored: kept.stored(), recompute_flops }
    };
    layers.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_llama_layer_is_q_k_v_o_gate_up_and_the_adapters() {
        let config = ModelConfig::preset("llama-3.2-1b").unwrap().1;
        let layer = layer_activations(&config, 0, &[100], 16);
        assert_eq!(layer.input, 4 * 100 * 2048);
        let floats = 2048 + 512 + 512 + 2048 + 32 + 2048 + 8192 + 8192 + 7 * 16;
        assert_eq!(layer.stored(), 4 * 100 * floats);
    }

    #[test]
    fn a_gated_layer_keeps_gates_too_and_a_recurrent_one_no_state() {
        let config = ModelConfig::preset("qwen3.5-4b").unwrap().1;
        let layer = |index| layer_activations(&config, index, &[10, 7], 16);
        let (gated, recurrent) = (layer(3), layer(0));
        assert_eq!((gated.kind, recurrent.kind), (LayerKind::Attention, LayerKind::Recurrent));
        let mlp = 2560 + 2 * 9216;
        assert_eq!(gated.stored(), 4 * 17 * (8192 + 2 * 1024 + 4096 + 16 + mlp + 7 * 16));
        assert_eq!(recurrent.stored(), 4 * 17 * (8192 + 4096 + 64 + 4096 + mlp + 8 * 16));
        assert_eq!(layer_bytes(&config, 1..4, &[10, 7], 16)[2].stored, gated.stored());
    }
}
