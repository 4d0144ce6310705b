use std::collections::HashSet;
use std::sync::Arc;

use crate::config::{DeviceKind, RuntimeConfig};
use crate::device::{LoadedModel, ModelPool, Variant};
use crate::engine::{Engine, Routed};
use crate::kernels::Kernels;
use crate::npu::Npu;
use crate::plan_table::PlanTable;
use crate::planner;
use crate::projection::{Projection, ProjectionId};
use crate::startup_check::{self, Effort};
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
        RuntimeBuilder { config, projections: Vec::new(), names: HashSet::new() }
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
        self.add_as(name, out, in_, data, self.config.precision)
    }

    /// As [`RuntimeBuilder::add`], in a precision of its own instead of the configured one.
    ///
    /// # Errors
    /// Those of [`RuntimeBuilder::add`], and f32 asked of the NPU.
    pub fn add_as(
        &mut self,
        name: &str,
        out: usize,
        in_: usize,
        data: WeightData<'_>,
        precision: Precision,
    ) -> Result<ProjectionId, RuntimeError> {
        if precision == Precision::F32 && self.config.device != DeviceKind::Cpu {
            return Err(RuntimeError::PrecisionNeedsCpu);
        }
        if !self.names.insert(name.to_owned()) {
            return Err(RuntimeError::DuplicateProjection { name: name.to_owned() });
        }
        let Resident { weight, misfit } = Weight::resident(name, out, in_, data, precision)?;
        self.projections.push(Projection { name: name.to_owned(), out, in_, weight, misfit });
        Ok(ProjectionId(self.projections.len() - 1))
    }

    /// Plans and checks every projection, then starts the service thread.
    ///
    /// # Errors
    /// A configuration that cannot work, or threads that cannot be started. A kernel that fails its check is no error:
    /// its projection runs on the CPU and the plan table says why.
    pub fn start(self) -> Result<Runtime, RuntimeError> {
        let RuntimeBuilder { config, projections, .. } = self;
        check_config(&config)?;
        let projections: Arc<[Projection]> = projections.into();
        let DeviceKind::Model { checked } = config.device else {
            let engine = Engine::new(projections.clone(), config.threads, None);
            return Runtime::start(projections, PlanTable::default(), 0, engine);
        };
        let faults = config.faults.clone().with_environment()?;
        faults.all_match(&projections)?;
        let mut routes = planner::plan(&projections, &Kernels::verify()?, &config, &faults);
        let variant = match &config.kernel_library {
            Some(path) => Variant::Loaded(LoadedModel::open(path)?),
            None => Variant::select(checked),
        };
        let pool = ModelPool::open(variant, config.threads, config.vtcm_bytes, config.overflow)?;
        let mut npu = Npu::new(pool);
        if config.startup_check {
            let bucket_products = if checked { CHECKED_PRODUCTS } else { FAST_PRODUCTS };
            let effort = Effort { bucket_products, threads: config.threads };
            startup_check::check(&mut npu, &projections, &mut routes, &effort);
        }
        let table = PlanTable::new(&projections, &routes, config.vtcm_bytes);
        let hash = planner::hash(&projections, &routes);
        let engine = Engine::new(projections.clone(), config.threads, Some(Routed { npu, routes, faults }));
        Runtime::start(projections, table, hash, engine)
    }
}

/// Multiply-adds a bucket check may cost: about 20 ms of the fast model, …
const FAST_PRODUCTS: usize = 500_000_000;
/// … and about 100 ms of the checked one.
const CHECKED_PRODUCTS: usize = 10_000_000;

fn check_config(config: &RuntimeConfig) -> Result<(), RuntimeError> {
    let bad = |what: &str| Err(RuntimeError::BadConfig { what: what.to_owned() });
    if config.threads == 0 {
        return bad("0 threads cannot compute: set --threads to at least 1");
    }
    if let DeviceKind::Model { .. } = config.device {
        if config.precision == Precision::F32 {
            return Err(RuntimeError::PrecisionNeedsCpu);
        }
        if config.token_buckets.is_empty() || config.token_buckets.contains(&0) {
            return bad("the planner needs at least one token bucket, and none of 0 tokens: set token_buckets");
        }
    }
    Ok(())
}
