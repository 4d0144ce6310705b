//! Plans by shape alone, before there is a weight: what a runtime would decide, and what the cost model says of it.

use std::sync::Arc;

use kernel_gen::cost::{self, Machine, Prediction};

use crate::kernels::Kernels;
use crate::planner::{self, Shape};
use crate::route::{Decision, Planned, Route};
use crate::{Direction, PlanOutcome, Precision, RuntimeConfig, RuntimeError};

/// Plans products of a configuration's architecture, VTCM and token buckets.
pub struct ShapePlanner {
    kernels: Kernels,
    config: RuntimeConfig,
}

/// How one product is computed in each token bucket, and the requests its rows become.
#[derive(Clone, Debug)]
pub struct ShapePlan {
    /// (bucket, plan or reason for none), ascending.
    pub buckets: Vec<(usize, PlanOutcome)>,
    /// The requests of all rows, in order; empty if no bucket has a plan: the CPU computes the product.
    pub requests: Vec<PredictedRequest>,
}

/// One request and what the cost model says of it. No device has run these kernels.
#[derive(Clone, Copy, Debug)]
pub struct PredictedRequest {
    /// Bucket whose plan it uses.
    pub bucket: usize,
    /// Token rows.
    pub rows: usize,
    /// Predicted time.
    pub prediction: Prediction,
}

impl ShapePlanner {
    /// A planner for the architecture, VTCM and token buckets of `config`; device and weights do not matter.
    ///
    /// # Errors
    /// A library kernel that breaks a rule of the language.
    pub fn new(config: RuntimeConfig) -> Result<ShapePlanner, RuntimeError> {
        Ok(ShapePlanner { kernels: Kernels::verify()?, config })
    }

    /// The product of `rows` token rows with a weight of `out` × `in_`.
    pub fn plan(&self, direction: Direction, precision: Precision, out: usize, in_: usize, rows: usize) -> ShapePlan {
        let decide = |bucket: usize| {
            let shape: Shape = (direction, precision, out, in_, bucket);
            Decision { bucket, outcome: planner::solve(&self.kernels, &self.config, shape) }
        };
        let route = Route { decisions: self.config.buckets().into_iter().map(decide).collect() };
        let request = |(bucket, rows, planned): (usize, usize, &Arc<Planned>)| {
            let kernel = self.kernels.of(direction, precision)?;
            // Rows fit u32: they are at most the bucket the planner has solved for.
            let cost = cost::cost(kernel, &planned.plan, 0..rows as u32);
            Some(PredictedRequest { bucket, rows, prediction: cost::predict(&cost, &Machine::of(self.config.arch)) })
        };
        let requests = route.parts(rows).unwrap_or_default().into_iter().filter_map(request).collect();
        let buckets = route.decisions.iter().map(|decision| (decision.bucket, PlanOutcome::of(decision))).collect();
        ShapePlan { buckets, requests }
    }
}
