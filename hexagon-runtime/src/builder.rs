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
use crate::session::Session;
use crate::sessions::assign_sessions;
use crate::startup_check::{self, Effort};
use crate::weight::{Resident, Weight};
use crate::{Precision, Q8Tiles, Runtime, RuntimeError, WeightData};

/// Takes the frozen weights, then starts a [`Runtime`].
pub struct RuntimeBuilder {
    config: RuntimeConfig,
    projections: Vec<Projection>,
    names: HashSet<String>,
    /// The group that is being added to.
    group: usize,
}

impl RuntimeBuilder {
    /// No weight yet.
    pub fn new(config: RuntimeConfig) -> RuntimeBuilder {
        RuntimeBuilder { config, projections: Vec::new(), names: HashSet::new(), group: 0 }
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
        self.new_name(name)?;
        let resident = Weight::resident(name, out, in_, data, precision)?;
        Ok(self.push(name, (out, in_), resident))
    }

    /// Takes over a weight that [`RuntimeBuilder::q8_tiles`] gave out earlier.
    ///
    /// # Errors
    /// A name used before, an empty shape.
    pub fn add_tiles(&mut self, name: &str, tiles: Q8Tiles) -> Result<ProjectionId, RuntimeError> {
        let (out, in_) = tiles.shape();
        if out == 0 || in_ == 0 {
            return Err(RuntimeError::EmptyShape { name: name.to_owned(), out, in_ });
        }
        self.new_name(name)?;
        Ok(self.push(name, (out, in_), Resident { weight: Weight::Q8(tiles), misfit: None }))
    }

    /// The weights kept in Q8, by name, in the order they were added.
    pub fn q8_tiles(&self) -> impl Iterator<Item = (&str, &Q8Tiles)> {
        self.projections.iter().filter_map(|projection| match &projection.weight {
            Weight::Q8(tiles) => Some((projection.name.as_str(), tiles)),
            Weight::F32(_) | Weight::F16(_) => None,
        })
    }

    /// Bytes of the weights added so far.
    pub fn resident_bytes(&self) -> usize {
        self.projections.iter().map(|projection| projection.weight.bytes()).sum()
    }

    /// What is added from here on is another group (a layer): an NPU session holds whole groups where that costs no further
    /// session.
    pub fn next_group(&mut self) {
        self.group += 1;
    }

    fn new_name(&mut self, name: &str) -> Result<(), RuntimeError> {
        match self.names.insert(name.to_owned()) {
            true => Ok(()),
            false => Err(RuntimeError::DuplicateProjection { name: name.to_owned() }),
        }
    }

    fn push(&mut self, name: &str, (out, in_): (usize, usize), Resident { weight, misfit }: Resident) -> ProjectionId {
        let (name, group) = (name.to_owned(), self.group);
        self.projections.push(Projection { name, out, in_, weight, misfit, group, session: None });
        ProjectionId(self.projections.len() - 1)
    }

    /// Plans and checks every projection, then starts the service thread.
    ///
    /// # Errors
    /// A configuration that cannot work, or threads that cannot be started. A kernel that fails its check is no error:
    /// its projection runs on the CPU and the plan table says why.
    pub fn start(self) -> Result<Runtime, RuntimeError> {
        let RuntimeBuilder { config, mut projections, .. } = self;
        check_config(&config)?;
        let DeviceKind::Model { checked } = config.device else {
            let projections: Arc<[Projection]> = projections.into();
            let engine = Engine::new(projections.clone(), config.threads, None);
            return Runtime::start(projections, PlanTable::default(), 0, Vec::new(), engine);
        };
        let sessions = assign_sessions(&mut projections, config.session_bytes);
        let projections: Arc<[Projection]> = projections.into();
        let faults = config.faults.clone().with_environment()?;
        faults.all_match(&projections)?;
        let mut routes = planner::plan(&projections, &Kernels::verify()?, &config, &faults);
        let variant = match &config.kernel_library {
            Some(path) => Variant::Loaded(LoadedModel::open(path)?),
            None => Variant::select(checked),
        };
        let open = |number| {
            let pool = ModelPool::open(variant, config.threads, config.vtcm_bytes, config.overflow)?;
            Ok(Session::new(pool, projections.iter().filter(|projection| projection.session == Some(number))))
        };
        let mut npu = Npu::new((0..sessions.len()).map(open).collect::<Result<_, RuntimeError>>()?);
        if config.startup_check {
            let bucket_products = if checked { CHECKED_PRODUCTS } else { FAST_PRODUCTS };
            let effort = Effort { bucket_products, threads: config.threads };
            startup_check::check(&mut npu, &projections, &mut routes, &effort);
        }
        let table = PlanTable::new(&projections, &routes, config.vtcm_bytes);
        let hash = planner::hash(&projections, &routes);
        let engine = Engine::new(projections.clone(), config.threads, Some(Routed { npu, routes, faults }));
        Runtime::start(projections, table, hash, sessions, engine)
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
        if config.session_bytes == 0 {
            return bad("a session of 0 bytes holds no weight: set --session-bytes to a size such as 3GB");
        }
        if config.precision == Precision::F32 {
            return Err(RuntimeError::PrecisionNeedsCpu);
        }
        if config.token_buckets.is_empty() || config.token_buckets.contains(&0) {
            return bad("the planner needs at least one token bucket, and none of 0 tokens: set token_buckets");
        }
    }
    Ok(())
}
