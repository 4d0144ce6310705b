//! What the CPU computes between the frozen projections.

use super::config::ModelConfig;

/// A fused node on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Row gather from the embedding table.
    Embedding,
    /// RMSNorm over the residual stream.
    Norm,
    /// RMSNorm over each query and key head.
    HeadNorm,
    /// Rotary position embedding.
    Rope,
    /// Causal grouped-query attention.
    Attention,
    /// Attention times the sigmoid of its gate.
    OutputGate,
    /// Causal convolution, SiLU, l2 norms, gates, delta rule and gated norm of a DeltaNet layer.
    DeltaNet,
    /// SiLU(gate) · up.
    SwiGlu,
    /// Vocabulary product, softmax and loss.
    Head,
}

impl ModelConfig {
    /// The operators of one layer, in the order of the forward pass.
    pub fn layer_operators(&self, layer: usize) -> Vec<Operator> {
        let description = self.architecture.description();
        let mut all = vec![Operator::Norm];
        if self.recurrent(layer).is_some() {
            all.push(Operator::DeltaNet);
        } else {
            all.extend(description.head_norm.then_some(Operator::HeadNorm));
            all.extend([Operator::Rope, Operator::Attention]);
            all.extend(description.output_gate.then_some(Operator::OutputGate));
        }
        all.extend([Operator::Norm, Operator::SwiGlu]);
        all
    }

    /// The operators of the whole model, in the order of the forward pass.
    pub fn operators(&self) -> Vec<Operator> {
        let layers = (0..self.layers).flat_map(|layer| self.layer_operators(layer));
        [Operator::Embedding].into_iter().chain(layers).chain([Operator::Norm, Operator::Head]).collect()
    }
}
