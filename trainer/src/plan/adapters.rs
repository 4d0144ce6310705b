//! The trained part: a pair A, B beside every frozen projection.

use serde::Serialize;

use crate::registry::ModelConfig;

/// Adapters of one rank on every projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Adapters {
    /// Rank of A and B.
    pub rank: usize,
    /// Tensors: an A and a B for each projection.
    pub tensors: usize,
    /// Trained parameters.
    pub parameters: u64,
    /// Bytes of the parameters, f32.
    pub bytes: u64,
    /// Bytes of their gradients, f32.
    pub gradient_bytes: u64,
    /// Bytes of AdamW's two moments, f32.
    pub optimizer_bytes: u64,
}

impl Adapters {
    /// Adapters of rank `rank` on every projection of `config`.
    pub fn of(config: &ModelConfig, rank: usize) -> Adapters {
        let projections = config.projections();
        let parameters = projections.iter().map(|p| (rank * (p.rows + p.cols)) as u64).sum::<u64>();
        let bytes = 4 * parameters;
        let tensors = 2 * projections.len();
        Adapters { rank, tensors, parameters, bytes, gradient_bytes: bytes, optimizer_bytes: 2 * bytes }
    }
}
