//! Activations under a budget, and the predicted peak.

use serde::Serialize;

use super::flops::layer_recompute_flops;
use crate::memory::{
    ActivationBudget, Buffer, Choice, LayerBytes, LayerKind, TooSmall, choose, layer_activations, layer_gradient_bytes,
};
use crate::registry::ModelConfig;

/// What the tape keeps of one kind of layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerKindBytes {
    /// attention or recurrent.
    pub kind: &'static str,
    /// How many layers.
    pub layers: usize,
    /// Bytes of a layer that is computed again: its input.
    pub recomputed_bytes: u64,
    /// Bytes of a layer that is stored.
    pub stored_bytes: u64,
    /// What they consist of beside the input: (name, bytes).
    pub buffers: Vec<(&'static str, u64)>,
}

/// Which layers are stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActivationPlan {
    /// By kind of layer.
    pub kinds: Vec<LayerKindBytes>,
    /// Bytes with every layer stored.
    pub all_stored_bytes: u64,
    /// Bytes with every layer computed again, the one at work included.
    pub all_recomputed_bytes: u64,
    /// What was asked for.
    pub budget: String,
    /// Layers computed again.
    pub recomputed: Vec<usize>,
    /// Most bytes of activations at once.
    pub bytes: u64,
    /// Gradients of one layer in the backward pass, beside them.
    pub gradient_bytes: u64,
}

impl ActivationPlan {
    /// Decides for sequences of `lengths` tokens and adapters of rank `rank`.
    ///
    /// # Errors
    /// A budget below what computing every layer again needs.
    pub fn of(
        config: &ModelConfig,
        lengths: &[usize],
        rank: usize,
        budget: ActivationBudget,
        available: Option<u64>,
    ) -> Result<ActivationPlan, TooSmall> {
        let layers: Vec<_> = (0..config.layers).map(|layer| layer_activations(config, layer, lengths, rank)).collect();
        let bytes: Vec<LayerBytes> = layers
            .iter()
            .enumerate()
            .map(|(layer, kept)| LayerBytes {
                input: kept.input,
                stored: kept.stored(),
                recompute_flops: layer_recompute_flops(config, layer, lengths, rank).total(),
            })
            .collect();
        let (all, none) = (choose(&bytes, None)?, Choice::recompute_all(&bytes));
        let choice = budget.choose(&bytes, available)?;
        let mut kinds: Vec<LayerKindBytes> = Vec::new();
        for kept in &layers {
            match kinds.iter_mut().find(|kind| kind.kind == kept.kind.name()) {
                Some(kind) => kind.layers += 1,
                None => kinds.push(LayerKindBytes {
                    kind: kept.kind.name(),
                    layers: 1,
                    recomputed_bytes: kept.input,
                    stored_bytes: kept.input + kept.stored(),
                    buffers: kept.buffers.iter().map(|Buffer { name, bytes }| (*name, *bytes)).collect(),
                }),
            }
        }
        let tokens = lengths.iter().sum();
        let gradients = |layer| layer_gradient_bytes(config, LayerKind::of(config, layer), tokens);
        Ok(ActivationPlan {
            kinds,
            all_stored_bytes: all.peak,
            all_recomputed_bytes: none.peak,
            budget: budget.to_string(),
            recomputed: choice.recomputed(),
            bytes: choice.peak,
            gradient_bytes: (0..config.layers).map(gradients).max().unwrap_or(0),
        })
    }
}
