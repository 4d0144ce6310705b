//! The step from separate operators computes what the trainer computes: otherwise comparing their times says nothing.

use benches::Fusion;
use trainer::registry::{Architecture, DeltaNet, ModelConfig, Rope};

/// Ragged sizes, several value heads a key head, both kinds of layers above and below each other.
fn config(tied_head: bool) -> ModelConfig {
    ModelConfig {
        architecture: Architecture::Qwen3_5,
        hidden: 48,
        layers: 5,
        heads: 4,
        kv_heads: 2,
        head_dim: 16,
        rotary_dim: 4,
        intermediate: 40,
        vocab: 300,
        norm_eps: 1e-6,
        rope: Rope { theta: 1e6, scaling: None },
        tied_head,
        max_positions: 512,
        delta_net: Some(DeltaNet {
            recurrent: vec![true, true, true, false, true],
            key_heads: 2,
            value_heads: 4,
            key_dim: 8,
            value_dim: 12,
            conv_kernel: 4,
        }),
    }
}

#[test]
fn separate_operators_give_the_loss_and_the_gradients_of_the_fused_step() {
    for tied_head in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let mut fusion = Fusion::open(config(tied_head), folder.path(), 2).unwrap();
        for tokens in [3, 17, 70] {
            let ids = fusion.ids(tokens);
            let deviation = fusion.deviation(&ids);
            println!(
                "tied {tied_head}, {tokens} tokens: loss {:.1e}, gradient {:.1e}",
                deviation.loss, deviation.gradient
            );
            assert!(deviation.holds(), "tied {tied_head}, {tokens} tokens: {deviation:?}");
        }
    }
}
