//! Every distinct product: its shape, its tiles on the NPU, and what the cost model predicts.

use hexagon_runtime::{Direction, PlanOutcome, Precision, ShapePlan, ShapePlanner};
use serde::Serialize;

use crate::flops::{NOT_RECOMPUTED, reads_layer_input};
use crate::registry::{ModelConfig, PrecisionPolicy, Projection, ProjectionKind};

/// Projections that differ in their layer only.
#[derive(Clone, Debug, Serialize)]
pub struct Product {
    /// Name below the layer, e.g. `self_attn.q_proj`.
    pub name: String,
    /// recurrent, attention or mlp.
    pub kind: &'static str,
    /// Output features.
    pub rows: usize,
    /// Input features.
    pub cols: usize,
    /// How many there are.
    pub count: usize,
    /// Weights of all.
    pub parameters: u64,
    /// What they are kept in.
    pub precision: String,
    /// Resident bytes of all.
    pub bytes: u64,
    /// Of these, how many need no input gradient, being the lowest thing that is trained.
    pub without_input_grad: usize,
    /// Whether recomputing a layer needs it.
    pub recomputed: bool,
    /// Y = X·Wᵀ.
    pub forward: DirectionPlan,
    /// dX = dY·W.
    pub input_grad: DirectionPlan,
}

/// One direction of a product.
#[derive(Clone, Debug, Serialize)]
pub struct DirectionPlan {
    /// How each token bucket is computed.
    pub buckets: Vec<BucketPlan>,
    /// The requests of the step's tokens; none if the CPU computes the product.
    pub requests: Vec<RequestPlan>,
    /// Predicted time of all of them, for one projection.
    pub seconds: NpuSeconds,
}

/// A plan, or the reason for none.
#[derive(Clone, Debug, Serialize)]
pub struct BucketPlan {
    /// Token bucket.
    pub bucket: usize,
    /// (tunable, value), empty without a plan.
    pub tiles: Vec<(String, u32)>,
    /// VTCM the windows take, 0 without a plan.
    pub vtcm_bytes: u32,
    /// Why the CPU computes it.
    pub unsupported: Option<String>,
}

/// One request.
#[derive(Clone, Debug, Serialize)]
pub struct RequestPlan {
    /// Bucket whose plan it uses.
    pub bucket: usize,
    /// Token rows.
    pub rows: usize,
    /// What bounds it: HMX, HVX or DDR.
    pub bound: String,
    /// Predicted time.
    pub seconds: NpuSeconds,
}

/// Predicted seconds on the NPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct NpuSeconds {
    /// HVX and HMX in turn, DMA beside them, as the emitted schedule issues them.
    pub in_order: f64,
    /// All units busy all the time: a lower bound.
    pub overlapped: f64,
}

impl NpuSeconds {
    /// Adds another time `times` times.
    pub fn add(&mut self, other: NpuSeconds, times: usize) {
        self.in_order += other.in_order * times as f64;
        self.overlapped += other.overlapped * times as f64;
    }
}

/// The products of `config` in model order, each direction planned for `tokens` rows.
pub(super) fn products(
    config: &ModelConfig,
    policy: &PrecisionPolicy,
    planner: &ShapePlanner,
    tokens: usize,
) -> Vec<Product> {
    let mut products: Vec<Product> = Vec::new();
    for layer in 0..config.layers {
        for projection in config.layer_projections(layer) {
            let name = part(&projection.name);
            let product = match products.iter_mut().position(|product| product.name == name) {
                Some(at) => &mut products[at],
                None => {
                    products.push(empty(name, &projection, policy.of(projection.kind), planner, tokens));
                    let last = products.len() - 1;
                    &mut products[last]
                }
            };
            product.count += 1;
            product.parameters += projection.parameters();
            product.bytes += projection.bytes(policy.of(projection.kind));
            product.without_input_grad += usize::from(layer == 0 && reads_layer_input(&projection));
        }
    }
    products
}

/// The name below the layer.
pub(super) fn part(name: &str) -> &str {
    name.splitn(4, '.').nth(3).unwrap_or(name)
}

fn empty(name: &str, projection: &Projection, precision: Precision, planner: &ShapePlanner, tokens: usize) -> Product {
    let (rows, cols) = (projection.rows, projection.cols);
    let direction = |direction| DirectionPlan::of(planner.plan(direction, precision, rows, cols, tokens));
    Product {
        name: name.to_owned(),
        kind: match projection.kind {
            ProjectionKind::Recurrent => "recurrent",
            ProjectionKind::Attention => "attention",
            ProjectionKind::Mlp => "mlp",
            ProjectionKind::Head => "head",
        },
        rows,
        cols,
        count: 0,
        parameters: 0,
        precision: precision.to_string(),
        bytes: 0,
        without_input_grad: 0,
        recomputed: name != NOT_RECOMPUTED,
        forward: direction(Direction::Forward),
        input_grad: direction(Direction::InputGrad),
    }
}

impl DirectionPlan {
    fn of(plan: ShapePlan) -> DirectionPlan {
        let bucket = |(bucket, outcome)| match outcome {
            PlanOutcome::Supported { tiles, vtcm_bytes, .. } => {
                BucketPlan { bucket, tiles, vtcm_bytes, unsupported: None }
            }
            PlanOutcome::Unsupported { reason } => {
                BucketPlan { bucket, tiles: Vec::new(), vtcm_bytes: 0, unsupported: Some(reason) }
            }
        };
        let mut seconds = NpuSeconds::default();
        let requests: Vec<RequestPlan> = plan
            .requests
            .iter()
            .map(|request| {
                let predicted = &request.prediction;
                let one = NpuSeconds { in_order: predicted.in_order_seconds, overlapped: predicted.overlapped_seconds };
                seconds.add(one, 1);
                let bound = predicted.bound.to_string();
                RequestPlan { bucket: request.bucket, rows: request.rows, bound, seconds: one }
            })
            .collect();
        DirectionPlan { buckets: plan.buckets.into_iter().map(bucket).collect(), requests, seconds }
    }
}
