use std::collections::HashSet;
use std::sync::Arc;

use crate::config::{DeviceKind, RuntimeConfig};
use crate::engine::Engine;
use crate::plan_table::PlanTable;
use crate::projection::{Projection, ProjectionId};
use crate::weight::{Resident, Weight};
use crate::{Precision, Runtime, RuntimeError, WeightData};

/// Takes the frozen weights, then starts a [`Runtime`].
pub struct RuntimeBuilder {
    config: RuntimeConfig,
    projections: Vec<Projection>,
    names: HashSet<String>,
}

impl RuntimeBuilder {
    /// No weight yet.
    pub fn new(config: RuntimeConfig) -> RuntimeBuilder {
        RuntimeBuilder {
            config,
            projections: Vec::new(),
            names: HashSet::new(),
        }
    }

    /// Makes a weight of `out` × `in_` resident in the configured precision; `data` is not needed afterwards.
    ///
    /// # Errors
    /// A wrong length, NaN or Inf, a name used before, an empty shape. A weight beyond FP16 is no error: its projection
    /// runs on the CPU and the plan table says why.
    pub fn add(
        &mut self,
        name: &str,
        out: usize,
        in_: usize,
        data: WeightData<'_>,
    ) -> Result<ProjectionId, RuntimeError> {
        if !self.names.insert(name.to_owned()) {
            return Err(RuntimeError::DuplicateProjection {
                name: name.to_owned(),
            });
        }
        let Resident { weight, misfit } =
            Weight::resident(name, out, in_, data, self.config.precision)?;
        self.projections.push(Projection {
            name: name.to_owned(),
            out,
            in_,
            weight,
            misfit,
        });
        Ok(ProjectionId(self.projections.len() - 1))
    }

    /// Plans and checks every projection, then starts the service thread.
    ///
    /// # Errors
    /// A configuration that cannot work, or threads that cannot be started. A kernel that fails its check is no error:
    /// its projection runs on the CPU and the plan table says why.
    pub fn start(self) -> Result<Runtime, RuntimeError> {
        let RuntimeBuilder {
            config,
            projections,
            ..
        } = self;
        check(&config)?;
        let projections: Arc<[Projection]> = projections.into();
        let engine = Engine::new(projections.clone(), config.threads);
        Runtime::start(projections, PlanTable::default(), 0, engine)
    }
}

fn check(config: &RuntimeConfig) -> Result<(), RuntimeError> {
    let bad = |what: &str| {
        Err(RuntimeError::BadConfig {
            what: what.to_owned(),
        })
    };
    if config.threads == 0 {
        return bad("0 threads cannot compute: set --threads to at least 1");
    }
    if let DeviceKind::Model { .. } = config.device {
        if config.precision == Precision::F32 {
            return Err(RuntimeError::PrecisionNeedsCpu);
        }
        if config.token_buckets.is_empty() || config.token_buckets.contains(&0) {
            return bad(
                "the planner needs at least one token bucket, and none of 0 tokens: set token_buckets",
            );
        }
    }
    Ok(())
}
