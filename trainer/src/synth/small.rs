//! Configurations small enough for tests.

use crate::registry::{Architecture, DeltaNet, ModelConfig, Rope};

/// Few heads and channels, all kinds of layers.
pub(crate) fn small(architecture: Architecture) -> ModelConfig {
    let hybrid = architecture.description().hybrid;
    ModelConfig {
        architecture,
        hidden: 48,
        layers: 5,
        heads: 4,
        kv_heads: 2,
        head_dim: 16,
        rotary_dim: if hybrid { 4 } else { 16 },
        intermediate: 40,
        vocab: 300,
        norm_eps: 1e-6,
        rope: Rope { theta: 1e6, scaling: None },
        tied_head: !hybrid,
        max_positions: 512,
        delta_net: hybrid.then(|| DeltaNet {
            recurrent: vec![true, true, true, false, true],
            key_heads: 2,
            value_heads: 4,
            key_dim: 8,
            value_dim: 12,
            conv_kernel: 4,
        }),
    }
}
