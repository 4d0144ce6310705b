//! Floating-point operations of a step, a multiply and an add counted as two. Counted are matrix products, attention,
//! the delta rule with its convolution, and adapters; norms, rope, gates and activations are not.

use std::ops::{Add, AddAssign};

use serde::Serialize;

use crate::registry::{DeltaNet, ModelConfig, Projection};

/// Operations by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Flops {
    /// Products with frozen projections, on the NPU.
    pub projections: u64,
    /// Products with the vocabulary matrix, every token a target.
    pub head: u64,
    /// Scores and weighted values over the keys a token sees (itself and those before it).
    pub attention: u64,
    /// Convolution and delta rule, token by token.
    pub delta_net: u64,
    /// Products with A and B.
    pub lora: u64,
}

impl Flops {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.projections + self.head + self.attention + self.delta_net + self.lora
    }
}

impl Add for Flops {
    type Output = Flops;

    fn add(self, other: Flops) -> Flops {
        Flops {
            projections: self.projections + other.projections,
            head: self.head + other.head,
            attention: self.attention + other.attention,
            delta_net: self.delta_net + other.delta_net,
            lora: self.lora + other.lora,
        }
    }
}

impl AddAssign for Flops {
    fn add_assign(&mut self, other: Flops) {
        *self = *self + other;
    }
}

/// A step by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PhaseFlops {
    /// Forward pass.
    pub forward: Flops,
    /// Forward again, for layers that are not stored.
    pub recompute: Flops,
    /// Backward pass: gradients of inputs and of adapters.
    pub backward: Flops,
}

/// The products of one layer that its own backward pass does not need: the last one, down, gives the next layer's input.
pub(crate) const NOT_RECOMPUTED: &str = "mlp.down_proj";

/// Whether a projection reads the layer's input. In the lowest layer nothing below wants its input's gradient.
pub(crate) fn reads_layer_input(projection: &Projection) -> bool {
    let mixer_output = projection.name.ends_with("o_proj") || projection.name.ends_with("out_proj");
    !projection.name.contains(".mlp.") && !mixer_output
}

/// One layer forward, for sequences of `lengths` tokens and adapters of rank `rank` everywhere.
pub fn layer_forward_flops(config: &ModelConfig, layer: usize, lengths: &[usize], rank: usize) -> Flops {
    layer_products(config, layer, lengths, rank, |_| true) + mixer(config, layer, lengths)
}

/// One layer computed again in the backward pass: forward without the last product.
pub fn layer_recompute_flops(config: &ModelConfig, layer: usize, lengths: &[usize], rank: usize) -> Flops {
    let needed = |projection: &Projection| !projection.name.ends_with(NOT_RECOMPUTED);
    layer_products(config, layer, lengths, rank, needed) + mixer(config, layer, lengths)
}

/// A step over sequences of `lengths` tokens; `recomputed` layers go forward twice.
pub fn phase_flops(config: &ModelConfig, lengths: &[usize], rank: usize, recomputed: &[usize]) -> PhaseFlops {
    let mut phases = PhaseFlops::default();
    for layer in 0..config.layers {
        phases.forward += layer_forward_flops(config, layer, lengths, rank);
        phases.backward += layer_backward(config, layer, lengths, rank);
    }
    for &layer in recomputed {
        phases.recompute += layer_recompute_flops(config, layer, lengths, rank);
    }
    let head = 2 * tokens(lengths) * config.head_projection().parameters();
    phases.forward.head = head;
    phases.backward.head = head;
    phases
}

fn tokens(lengths: &[usize]) -> u64 {
    lengths.iter().map(|&length| length as u64).sum()
}

fn layer_products(
    config: &ModelConfig,
    layer: usize,
    lengths: &[usize],
    rank: usize,
    counted: impl Fn(&Projection) -> bool,
) -> Flops {
    let (tokens, mut flops) = (tokens(lengths), Flops::default());
    for projection in config.layer_projections(layer).iter().filter(|p| counted(p)) {
        flops.projections += 2 * tokens * projection.parameters();
        flops.lora += lora(projection, tokens, rank);
    }
    flops
}

/// A·x and B·(A·x).
fn lora(projection: &Projection, tokens: u64, rank: usize) -> u64 {
    2 * tokens * (rank * (projection.rows + projection.cols)) as u64
}

fn layer_backward(config: &ModelConfig, layer: usize, lengths: &[usize], rank: usize) -> Flops {
    let (tokens, mut flops) = (tokens(lengths), Flops::default());
    for projection in config.layer_projections(layer) {
        let input_wanted = layer > 0 || !reads_layer_input(&projection);
        // Gradients of B, of A·x and of A; that of the input where it is wanted.
        let adapter = lora(&projection, tokens, rank) + 2 * tokens * (rank * projection.rows) as u64;
        let input = 2 * tokens * (rank * projection.cols) as u64;
        flops.lora += adapter + if input_wanted { input } else { 0 };
        flops.projections += if input_wanted { 2 * tokens * projection.parameters() } else { 0 };
    }
    match config.recurrent(layer) {
        // States again from the nearest checkpoint, then the rule in reverse.
        Some(delta) => flops.delta_net = tokens * (conv(delta) * 2 + state(delta) * (STATE_AGAIN + RULE_BACKWARD)),
        // Scores again, dP, dV, dQ, dK: five products to the forward pass's two.
        None => flops.attention = attention(config, lengths) / 2 * 5,
    }
    flops
}

fn mixer(config: &ModelConfig, layer: usize, lengths: &[usize]) -> Flops {
    match config.recurrent(layer) {
        Some(delta) => {
            Flops { delta_net: tokens(lengths) * (conv(delta) + state(delta) * RULE_FORWARD), ..Flops::default() }
        }
        None => Flops { attention: attention(config, lengths), ..Flops::default() },
    }
}

/// QKᵀ and PV over the keys each token sees.
fn attention(config: &ModelConfig, lengths: &[usize]) -> u64 {
    let width = (config.heads * config.head_dim) as u64;
    lengths.iter().map(|&length| 4 * width * (length as u64 * (length as u64 + 1) / 2)).sum()
}

/// Operations per state element and token of S ← e^g S; d = β(v − Sᵀk); S ← S + k dᵀ; o = Sᵀq …
const RULE_FORWARD: u64 = 7;
/// … without the output …
const STATE_AGAIN: u64 = 5;
/// … and of its reverse: S·do, G + q doᵀ, Gᵀk, G·d and D·dv, G − k dvᵀ, ⟨G, D⟩, e^g G.
const RULE_BACKWARD: u64 = 15;

fn state(delta: &DeltaNet) -> u64 {
    (delta.value_heads * delta.key_dim * delta.value_dim) as u64
}

fn conv(delta: &DeltaNet) -> u64 {
    2 * (delta.channels() * delta.conv_kernel) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_llama_step_by_hand() {
        let config = ModelConfig::preset("llama-3.2-1b").unwrap().1;
        let (tokens, layers) = (10, 16);
        let all = 973_078_528;
        let down = 2048 * 8192;
        let phases = phase_flops(&config, &[10], 16, &[3, 4]);
        assert_eq!(phases.forward.projections, 2 * tokens * all);
        assert_eq!(phases.recompute.projections, 2 * tokens * 2 * (all / layers - down));
        // Layer 0 leaves out the input gradients of q, k and v.
        assert_eq!(phases.backward.projections, 2 * tokens * (all - 3072 * 2048));
        assert_eq!(phases.forward.attention, layers * 4 * 2048 * 55);
        assert_eq!(phases.backward.attention, layers * 10 * 2048 * 55);
        assert_eq!(phases.recompute.attention, 2 * 4 * 2048 * 55);
        assert_eq!(phases.forward.head, 2 * tokens * 128_256 * 2048);
        // The adapter's parameters, used once forward and twice backward.
        assert_eq!(phases.forward.lora, 2 * tokens * 11_272_192);
        assert_eq!(phases.backward.lora, 4 * tokens * 11_272_192 - 2 * tokens * 16 * 3 * 2048);
        assert_eq!(phases.forward.delta_net, 0);
    }

    #[test]
    fn recurrent_layers_are_linear_in_tokens_and_attention_is_not() {
        let config = ModelConfig::preset("qwen3.5-0.8b").unwrap().1;
        let [one, two] = [100, 200].map(|length| phase_flops(&config, &[length], 16, &[]).forward);
        assert_eq!(two.delta_net, 2 * one.delta_net);
        assert_eq!(one.delta_net, 18 * 100 * (2 * 6144 * 4 + 7 * 16 * 128 * 128));
        assert_eq!((one.attention, two.attention), (6 * 4 * 2048 * 5050, 6 * 4 * 2048 * 20_100));
        let packed = phase_flops(&config, &[100, 100], 16, &[]).forward;
        assert_eq!((packed.attention, packed.projections), (2 * one.attention, two.projections));
    }
}
