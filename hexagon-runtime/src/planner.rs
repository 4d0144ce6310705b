//! Decides for every (projection, direction, token bucket) whether the device can compute it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::RuntimeConfig;
use crate::faults::Faults;
use crate::kernels::{Kernels, partial_length};
use crate::projection::Projection;
use crate::route::{Decision, Planned, Route};
use crate::{Direction, Precision, SessionError};

/// Routes of one projection, in the order of [`Direction::ALL`].
pub(crate) type Routes = [Route; 2];

/// What a plan depends on: direction, precision, output and input features, token bucket.
pub(crate) type Shape = (Direction, Precision, usize, usize, usize);

/// One pair of routes per projection. Plans of equal shapes are shared.
pub(crate) fn plan(
    projections: &[Projection],
    kernels: &Kernels,
    config: &RuntimeConfig,
    faults: &Faults,
) -> Vec<Routes> {
    let buckets = config.buckets();
    let mut solved: HashMap<Shape, Result<Arc<Planned>, String>> = HashMap::new();
    let mut route = |projection: &Projection, direction: Direction| {
        let decide = |bucket: usize| {
            let outcome = match cpu_reason(projection, config, faults) {
                Some(reason) => Err(reason),
                None => {
                    let precision = projection.weight.precision();
                    let shape = (direction, precision, projection.out, projection.in_, bucket);
                    solved.entry(shape).or_insert_with(|| solve(kernels, config, shape)).clone()
                }
            };
            Decision { bucket, outcome }
        };
        Route { decisions: buckets.iter().copied().map(decide).collect() }
    };
    projections.iter().map(|projection| Direction::ALL.map(|direction| route(projection, direction))).collect()
}

fn cpu_reason(projection: &Projection, config: &RuntimeConfig, faults: &Faults) -> Option<String> {
    if let Some(part) = faults.makes_unsupported(&projection.name) {
        return Some(format!("fault forced by the name part {part:?}"));
    }
    if projection.misfit.is_some() {
        return projection.misfit.clone();
    }
    // Every other weight was given a session, unless none can hold it.
    projection.session.is_none().then(|| {
        let (bytes, limit) = (projection.weight.bytes() as u64, config.session_bytes);
        SessionError { name: "the weight".to_owned(), bytes, limit }.to_string()
    })
}

/// The plan of one shape, or why there is none.
pub(crate) fn solve(kernels: &Kernels, config: &RuntimeConfig, shape: Shape) -> Result<Arc<Planned>, String> {
    let (direction, precision, out, in_, bucket) = shape;
    let kernel = kernels.of(direction, precision).ok_or_else(|| format!("no kernel reads {precision} weights"))?;
    let extent = |what: &str, value: usize| {
        u32::try_from(value).map_err(|_| format!("{what} extent {value} is beyond the 32 bits of a plan"))
    };
    let axes = [extent("token", bucket)?, extent("out", out)?, extent("in", in_)?];
    let plan = kernel_gen::plan::solve(kernel, config.arch, &axes, config.vtcm_bytes).map_err(|e| e.to_string())?;
    let partial_length = partial_length(kernel.kernel(), direction, &plan);
    Ok(Arc::new(Planned { for_device: (&plan).into(), partial_length, plan }))
}

/// FNV-1a over every decision: name, direction, bucket, and the plan's own hash or 0 for the CPU.
pub(crate) fn hash(projections: &[Projection], routes: &[Routes]) -> u64 {
    let mut bytes = Vec::new();
    for (projection, routes) in projections.iter().zip(routes) {
        bytes.extend_from_slice(projection.name.as_bytes());
        for (direction, route) in routes.iter().enumerate() {
            bytes.push(direction as u8);
            for decision in &route.decisions {
                bytes.extend_from_slice(&(decision.bucket as u64).to_le_bytes());
                let plan = decision.outcome.as_ref().map_or(0, |planned| planned.plan.hash());
                bytes.extend_from_slice(&plan.to_le_bytes());
            }
        }
    }
    kernel_gen::fnv1a_64(&bytes)
}
