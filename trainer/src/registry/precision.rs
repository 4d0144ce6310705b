//! How each kind of projection is kept.

use super::config::ModelConfig;
use super::projection::{Projection, ProjectionKind};
use hexagon_runtime::Precision;
use std::fmt;
use std::str::FromStr;

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

/// A policy that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{part}` is no part of a policy: write one precision (f16, q8) for all, or KIND=PRECISION separated by commas, as \
     in recurrent=f16,attention=q8,mlp=q8"
)]
pub struct PolicyError {
    /// What was not understood.
    pub part: String,
}

impl FromStr for PrecisionPolicy {
    type Err = PolicyError;

    /// One precision for everything, or `recurrent=…,attention=…,mlp=…`; kinds left out keep the NPU's default.
    fn from_str(text: &str) -> Result<PrecisionPolicy, PolicyError> {
        let wrong = |part: &str| PolicyError { part: part.to_owned() };
        let precision = |name: &str, part: &str| match name.trim() {
            "f32" => Ok(Precision::F32),
            "f16" => Ok(Precision::F16),
            "q8" => Ok(Precision::Q8),
            _ => Err(wrong(part)),
        };
        if !text.contains('=') {
            return precision(text, text).map(PrecisionPolicy::uniform);
        }
        let mut policy = PrecisionPolicy::NPU;
        for part in text.split(',') {
            let (kind, name) = part.split_once('=').ok_or_else(|| wrong(part))?;
            let slot = match kind.trim() {
                "recurrent" => &mut policy.recurrent,
                "attention" => &mut policy.attention,
                "mlp" => &mut policy.mlp,
                _ => return Err(wrong(part)),
            };
            *slot = precision(name, part)?;
        }
        Ok(policy)
    }
}
