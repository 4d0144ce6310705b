//! Weights the NPU keeps resident, and the model's other parameters.

use hexagon_runtime::Precision;
use serde::Serialize;

use crate::registry::{ModelConfig, PrecisionPolicy};

/// Sums over the frozen projections, without padding to whole tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Resident {
    /// Projections: q, k, v, o, gate, up, down and the five of DeltaNet layers. Not the head, which the CPU computes.
    pub projections: usize,
    /// Their weights.
    pub parameters: u64,
    /// Bytes of those kept in f32 (no kernel reads them).
    pub f32_bytes: u64,
    /// Bytes of those kept in FP16, two a weight.
    pub f16_bytes: u64,
    /// Bytes of those kept in Q8_0, 34 for 32 weights.
    pub q8_bytes: u64,
    /// Bytes of all.
    pub bytes: u64,
    /// Bytes if all were FP16.
    pub all_f16_bytes: u64,
    /// Weights of the embedding.
    pub embedding_parameters: u64,
    /// Weights of an untied head; 0 if the embedding is the head.
    pub head_parameters: u64,
    /// Weights of norms, convolutions, gates and biases.
    pub other_parameters: u64,
    /// Weights of the text model, a tied embedding once.
    pub model_parameters: u64,
}

impl Resident {
    /// The sums for `config` under `policy`.
    pub fn of(config: &ModelConfig, policy: &PrecisionPolicy) -> Resident {
        let projections = config.projections();
        let parameters = projections.iter().map(|p| p.parameters()).sum::<u64>();
        let [f32_bytes, f16_bytes, q8_bytes] =
            [Precision::F32, Precision::F16, Precision::Q8].map(|precision| policy.resident_bytes(config, precision));
        let embedding_parameters = config.vocab as u64 * config.hidden as u64;
        let head_parameters = if config.tied_head { 0 } else { config.head_projection().parameters() };
        let model_parameters = config.parameters();
        Resident {
            projections: projections.len(),
            parameters,
            f32_bytes,
            f16_bytes,
            q8_bytes,
            bytes: f32_bytes + f16_bytes + q8_bytes,
            all_f16_bytes: projections.iter().map(|p| p.bytes(Precision::F16)).sum(),
            embedding_parameters,
            head_parameters,
            other_parameters: model_parameters - parameters - embedding_parameters - head_parameters,
            model_parameters,
        }
    }
}
