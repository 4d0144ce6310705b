//! What the tape keeps of one layer, in bytes.

use crate::registry::{DeltaNet, ModelConfig};

/// Tokens between two kept states of a recurrent layer; the states between them are computed again from the nearest.
pub const CHECKPOINT_TOKENS: usize = 16;

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
        Some(delta) => recurrent(delta, lengths, &rows),
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
    let description = config.architecture.description();
    let mut buffers = vec![rows("queries after rope", queries), rows("keys after rope", keys), rows("values", keys)];
    if description.head_norm {
        buffers.push(rows("queries and keys before their norm", queries + keys));
    }
    if description.output_gate {
        buffers.push(rows("output gate", queries));
    }
    buffers.extend([rows("attention output", queries), rows("log-sum-exp of the scores", config.heads)]);
    buffers
}

fn recurrent(delta: &DeltaNet, lengths: &[usize], rows: &dyn Fn(&'static str, usize) -> Buffer) -> Vec<Buffer> {
    let checkpoints: usize = lengths.iter().map(|length| length.div_ceil(CHECKPOINT_TOKENS)).sum();
    let state = (delta.value_heads * delta.key_dim * delta.value_dim) as u64;
    vec![
        rows("input of the convolution", delta.channels()),
        rows("output gate", delta.values()),
        rows("decay and write gates", 2 * delta.value_heads),
        rows("output of the delta rule", delta.values()),
        Buffer { name: "states, one every 16 tokens", bytes: F32 * state * checkpoints as u64 },
    ]
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
    fn a_gated_layer_keeps_the_gate_and_what_the_head_norms_saw() {
        let config = ModelConfig::preset("qwen3.5-4b").unwrap().1;
        let layer = layer_activations(&config, 3, &[10, 7], 16);
        assert_eq!(layer.kind, LayerKind::Attention);
        let floats = (4096 + 1024 + 1024) + (4096 + 1024) + 4096 + 4096 + 16 + 2560 + 2 * 9216 + 7 * 16;
        assert_eq!(layer.stored(), 4 * 17 * floats);
    }

    #[test]
    fn a_recurrent_layer_keeps_a_state_every_16_tokens_of_each_sequence() {
        let config = ModelConfig::preset("qwen3.5-4b").unwrap().1;
        let floats = 8192 + 4096 + 64 + 4096 + 2560 + 2 * 9216 + 8 * 16;
        let state = 32 * 128 * 128;
        for (lengths, checkpoints) in [(&[16][..], 1), (&[17], 2), (&[1, 1, 1], 3), (&[3431], 215), (&[16, 33], 4)] {
            let layer = layer_activations(&config, 0, lengths, 16);
            let tokens: u64 = lengths.iter().map(|&length| length as u64).sum();
            assert_eq!(layer.kind, LayerKind::Recurrent);
            assert_eq!(layer.stored(), 4 * (tokens * floats + checkpoints * state), "{lengths:?}");
        }
    }
}
