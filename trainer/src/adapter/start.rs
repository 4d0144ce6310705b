//! How an adapter begins: fresh (A uniform, B zero) or from PEFT files.

use super::layout::{Adapter, ProjectionShape};
use super::peft::{AdapterError, BaseModel};
use crate::nodes::{mix, unit};
use std::path::Path;

/// Rank of a fresh adapter.
pub const DEFAULT_RANK: usize = 16;
/// Alpha of a fresh adapter.
pub const DEFAULT_ALPHA: f32 = 32.0;

/// What the user asked for; `None` = did not say.
#[derive(Clone, Debug, Default)]
pub struct AdapterOptions {
    /// Rank r.
    pub rank: Option<usize>,
    /// Alpha; the factor on B·A·x is alpha / r.
    pub alpha: Option<f32>,
    /// Probability that an input element of A is dropped in training, in [0, 1); 0 for a fresh adapter, as it is for a
    /// given one.
    pub dropout: Option<f32>,
    /// Last name parts of the projections to adapt; all if None.
    pub targets: Option<Vec<String>>,
    /// Seed of A.
    pub seed: u64,
}

fn last_part(shape: &ProjectionShape) -> &str {
    shape.name.rsplit('.').next().unwrap_or(&shape.name)
}

impl Adapter {
    /// A fresh adapter as PEFT starts one: A uniform in ±1/√input from a counter over the seed, B
    /// zero.
    ///
    /// # Errors
    /// A target the model has not, a rank of zero, dropout outside [0, 1), an alpha that is no number.
    pub fn fresh(projections: &[ProjectionShape], options: &AdapterOptions) -> Result<Adapter, AdapterError> {
        let rank = options.rank.unwrap_or(DEFAULT_RANK);
        let alpha = options.alpha.unwrap_or(DEFAULT_ALPHA);
        if rank == 0 || !alpha.is_finite() || alpha <= 0.0 {
            return Err(AdapterError::Setting { what: format!("rank {rank} and alpha {alpha}") });
        }
        let dropout = options.dropout.unwrap_or(0.0);
        check_dropout(dropout)?;
        let shapes = match &options.targets {
            None => projections.to_vec(),
            Some(targets) => select(projections, targets)?,
        };
        let mut adapter = Adapter::zeros(shapes, rank, alpha, dropout);
        for index in 0..adapter.pairs().len() {
            let pair = adapter.pairs()[index].clone();
            let bound = 1.0 / (pair.shape.input as f32).sqrt();
            let key = mix(mix(options.seed) ^ index as u64);
            for (i, a) in adapter.values[pair.a].iter_mut().enumerate() {
                *a = bound * (2.0 * unit(mix(key.wrapping_add(i as u64))) - 1.0);
            }
        }
        Ok(adapter)
    }

    /// The adapter of PEFT files as a start: its rank, alpha and projections win, and a setting that
    /// says otherwise is an error.
    ///
    /// # Errors
    /// Those of [`Adapter::load`], and a conflicting rank, alpha or target list.
    pub fn resume_from(
        folder: &Path,
        projections: &[ProjectionShape],
        base: &BaseModel,
        options: &AdapterOptions,
    ) -> Result<Adapter, AdapterError> {
        let mut adapter = Adapter::load(folder, projections, base)?;
        let conflict = |flag: &'static str, asked: String, found: String| {
            let folder = folder.to_owned();
            Err(AdapterError::Conflict { flag, asked, found, folder })
        };
        if let Some(rank) = options.rank.filter(|rank| *rank != adapter.rank) {
            return conflict("rank", rank.to_string(), adapter.rank.to_string());
        }
        if let Some(alpha) = options.alpha.filter(|alpha| *alpha != adapter.alpha) {
            return conflict("alpha", alpha.to_string(), adapter.alpha.to_string());
        }
        if let Some(targets) = &options.targets {
            let mut asked: Vec<String> = targets.clone();
            asked.sort();
            asked.dedup();
            if asked != adapter.target_modules() {
                return conflict("targets", asked.join(","), adapter.target_modules().join(","));
            }
        }
        if let Some(dropout) = options.dropout {
            check_dropout(dropout)?;
            adapter.dropout = dropout;
        }
        Ok(adapter)
    }
}

fn check_dropout(dropout: f32) -> Result<(), AdapterError> {
    if (0.0..1.0).contains(&dropout) {
        return Ok(());
    }
    Err(AdapterError::Setting { what: format!("dropout {dropout}") })
}

fn select(projections: &[ProjectionShape], targets: &[String]) -> Result<Vec<ProjectionShape>, AdapterError> {
    for target in targets {
        if !projections.iter().any(|shape| last_part(shape) == target) {
            let mut known: Vec<&str> = Vec::new();
            for part in projections.iter().map(last_part) {
                if !known.contains(&part) {
                    known.push(part);
                }
            }
            return Err(AdapterError::UnknownTarget { target: target.clone(), known: known.join(", ") });
        }
    }
    if targets.is_empty() {
        return Err(AdapterError::Setting { what: "an empty target list".into() });
    }
    let wanted = |shape: &&ProjectionShape| targets.iter().any(|target| target == last_part(shape));
    Ok(projections.iter().filter(wanted).cloned().collect())
}
