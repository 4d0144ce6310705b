//! How each kind of projection is kept.

use super::config::ModelConfig;
use super::projection::{Projection, ProjectionKind};
use hexagon_runtime::Precision;
use std::fmt;

/// A precision for each kind of projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrecisionPolicy {
    /// Projections of DeltaNet layers.
    pub recurrent: Precision,
    /// Projections of attention layers.
    pub attention: Precision,
    /// Projections of MLPs.
    pub mlp: Precision,
}

impl PrecisionPolicy {
    /// The NPU's default: recurrent projections in FP16, because the state carries their error through the whole
    /// sequence; attention and MLP in Q8.
    pub const NPU: PrecisionPolicy =
        PrecisionPolicy { recurrent: Precision::F16, attention: Precision::Q8, mlp: Precision::Q8 };

    /// The same precision everywhere.
    pub const fn uniform(precision: Precision) -> PrecisionPolicy {
        PrecisionPolicy { recurrent: precision, attention: precision, mlp: precision }
    }

    /// The precision of a projection. The head is no NPU weight: it is kept as the file has it.
    pub fn of(&self, kind: ProjectionKind) -> Precision {
        match kind {
            ProjectionKind::Recurrent => self.recurrent,
            ProjectionKind::Attention => self.attention,
            ProjectionKind::Mlp => self.mlp,
            ProjectionKind::Head => Precision::F32,
        }
    }

    /// Resident bytes of all projections of a model that are kept in `precision`.
    pub fn resident_bytes(&self, config: &ModelConfig, precision: Precision) -> u64 {
        let kept = |projection: &Projection| self.of(projection.kind) == precision;
        config.projections().iter().filter(|p| kept(p)).map(|p| p.bytes(precision)).sum()
    }
}

impl fmt::Display for PrecisionPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrecisionPolicy { recurrent, attention, mlp } = self;
        if recurrent == attention && attention == mlp {
            return f.pad(&attention.to_string());
        }
        f.pad(&format!("{recurrent} recurrent, {attention} attention, {mlp} mlp"))
    }
}
