//! Activations under a budget, and the predicted peak.

use serde::Serialize;

use super::report::PlanRequest;
use crate::architecture::Activations;
use crate::memory::{Buffer, TooSmall, layer_activations, layer_bytes, layer_gradient_bytes};

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
    /// Values of one layer's backward pass, beside them.
    pub gradient_bytes: u64,
}

impl ActivationPlan {
    /// Decides for the sequence of a request.
    ///
    /// # Errors
    /// A budget below what computing every layer again needs.
    pub(super) fn of(request: &PlanRequest) -> Result<ActivationPlan, TooSmall> {
        let PlanRequest { config, tokens, rank, budget, threads, .. } = request;
        let lengths = [*tokens];
        let bytes = layer_bytes(config, 0..config.layers, &lengths, *rank);
        let peak = |activations: Activations| activations.choose(&bytes).map(|choice| choice.peak);
        let choice = budget.activations(request.available).choose(&bytes)?;
        let mut kinds: Vec<LayerKindBytes> = Vec::new();
        for layer in 0..config.layers {
            let kept = layer_activations(config, layer, &lengths, *rank);
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
        let gradients = |layer| layer_gradient_bytes(config, layer, &lengths, *threads);
        Ok(ActivationPlan {
            kinds,
            all_stored_bytes: peak(Activations::Store)?,
            all_recomputed_bytes: peak(Activations::Recompute)?,
            budget: budget.to_string(),
            recomputed: choice.recomputed(),
            bytes: choice.peak,
            gradient_bytes: (0..config.layers).map(gradients).max().unwrap_or(0),
        })
    }
}
