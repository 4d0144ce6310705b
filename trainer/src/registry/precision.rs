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

/// What is asked for each kind of projection; a kind left out keeps the device's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrecisionChoice {
    /// Projections of DeltaNet layers.
    pub recurrent: Option<Precision>,
    /// Projections of attention layers.
    pub attention: Option<Precision>,
    /// Projections of MLPs.
    pub mlp: Option<Precision>,
}

impl PrecisionChoice {
    /// The policy, what is left out taken from `default`.
    pub fn over(&self, default: PrecisionPolicy) -> PrecisionPolicy {
        PrecisionPolicy {
            recurrent: self.recurrent.unwrap_or(default.recurrent),
            attention: self.attention.unwrap_or(default.attention),
            mlp: self.mlp.unwrap_or(default.mlp),
        }
    }
}

/// A choice that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{part}` is no precision: write auto, one precision (f32, f16, q8) for all, or KIND=PRECISION separated by commas, \
     as in recurrent=f16,attention=q8,mlp=q8"
)]
pub struct PrecisionError {
    /// What was not understood.
    pub part: String,
}

impl FromStr for PrecisionChoice {
    type Err = PrecisionError;

    /// `auto`, one precision for everything, or `recurrent=…,attention=…,mlp=…`.
    fn from_str(text: &str) -> Result<PrecisionChoice, PrecisionError> {
        let wrong = |part: &str| PrecisionError { part: part.to_owned() };
        let precision = |name: &str, part: &str| match name.trim() {
            "f32" => Ok(Some(Precision::F32)),
            "f16" => Ok(Some(Precision::F16)),
            "q8" => Ok(Some(Precision::Q8)),
            _ => Err(wrong(part)),
        };
        if text.trim() == "auto" {
            return Ok(PrecisionChoice::default());
        }
        if !text.contains('=') {
            let all = precision(text, text)?;
            return Ok(PrecisionChoice { recurrent: all, attention: all, mlp: all });
        }
        let mut choice = PrecisionChoice::default();
        for part in text.split(',') {
            let (kind, name) = part.split_once('=').ok_or_else(|| wrong(part))?;
            let slot = match kind.trim() {
                "recurrent" => &mut choice.recurrent,
                "attention" => &mut choice.attention,
                "mlp" => &mut choice.mlp,
                _ => return Err(wrong(part)),
            };
            if slot.is_some() {
                return Err(wrong(part));
            }
            *slot = precision(name, part)?;
        }
        Ok(choice)
    }
}
