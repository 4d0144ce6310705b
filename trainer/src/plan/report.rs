//! The whole plan of a step.

use hexagon_runtime::{Arch, RuntimeConfig, RuntimeError, SessionError, ShapePlanner};
use serde::Serialize;

use super::adapters::Adapters;
use super::memory::ActivationPlan;
use super::products::{NpuSeconds, Product, products};
use super::resident::Resident;
use super::sessions::Sessions;
use crate::flops::{PhaseFlops, phase_flops};
use crate::memory::{ActivationBudget, Held, PeakPart, TooSmall, loading_bytes, peak_parts};
use crate::registry::{ModelConfig, PrecisionPolicy};

/// What to plan.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// What the model is called in the report.
    pub name: String,
    /// The model.
    pub config: ModelConfig,
    /// How its projections are kept.
    pub policy: PrecisionPolicy,
    /// NPU generation.
    pub arch: Arch,
    /// Tokens of the step, one sequence; every one a target.
    pub tokens: usize,
    /// Rank of the adapters, one on every projection.
    pub rank: usize,
    /// Bytes of weights an NPU session may map.
    pub session_bytes: u64,
    /// Bytes activations may take.
    pub budget: ActivationBudget,
    /// Threads of the CPU's share of the work.
    pub threads: usize,
    /// Memory available on the machine the step will run on, if it counts.
    pub available: Option<u64>,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanFailure {
    /// The activations do not fit.
    #[error(transparent)]
    Activations(#[from] TooSmall),
    /// A projection does not fit a session.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The library kernels do not verify.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A sequence the model was not made for.
    #[error("{tokens} tokens are beyond the model's {max} positions: give fewer --tokens")]
    TooLong {
        /// Tokens asked for.
        tokens: usize,
        /// The model's limit.
        max: usize,
    },
}

/// Predicted seconds on the NPU by phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NpuTime {
    /// Says what the figures are.
    pub note: &'static str,
    /// Forward products.
    pub forward: NpuSeconds,
    /// Forward products of layers computed again.
    pub recompute: NpuSeconds,
    /// Input gradients.
    pub backward: NpuSeconds,
    /// All of them.
    pub total: NpuSeconds,
}

const NOTE: &str = "prediction from published and inferred constants, not a measurement: no phone has run these kernels. \
                    The CPU's work, the transport and converts are not in it";

/// Everything `permafrost plan` says.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Name of the model.
    pub model: String,
    /// Its architecture.
    pub architecture: &'static str,
    /// NPU generation.
    pub arch: String,
    /// VTCM the plans may use.
    pub vtcm_bytes: u32,
    /// Tokens of the step.
    pub tokens: usize,
    /// How each kind of projection is kept.
    pub policy: String,
    /// What the figures count.
    pub counted: [&'static str; 4],
    /// Frozen projections by shape.
    pub products: Vec<Product>,
    /// Their sums.
    pub resident: Resident,
    /// NPU sessions.
    pub sessions: Sessions,
    /// Floating-point operations of a step.
    pub flops: PhaseFlops,
    /// Predicted time on the NPU.
    pub npu: NpuTime,
    /// Activations under the budget.
    pub activations: ActivationPlan,
    /// The trained part.
    pub adapters: Adapters,
    /// Parts of the predicted peak.
    pub peak: Vec<PeakPart>,
    /// Their sum: what a step needs at its peak.
    pub step_bytes: u64,
    /// What loading the model needs at its peak.
    pub loading_bytes: u64,
    /// The larger of the two.
    pub peak_bytes: u64,
}

const COUNTED: [&str; 4] = [
    "projections: every frozen matrix the NPU multiplies by. Not embedding and lm_head (products on the CPU), \
     convolutions, norms, gates, vision towers and layers that predict several tokens ahead",
    "bytes: 2 a weight in FP16, 34 for 32 in Q8_0, without padding to whole tiles; 1 GB = 10^9 bytes",
    "operations: a multiply and an add are two. Matrix products, attention over the keys a token sees, delta rule with \
     its convolution, adapters; not norms, rope, gates and activations. Every token is a target. The lowest layer needs \
     no input gradient where it reads the embedding, and a layer computed again leaves down out",
    "peak: buffers in use at once, not allocator overhead. The embedding (and an untied head) with 2 bytes a weight, as \
     in BF16 and FP16 files",
];

impl Report {
    /// Plans a step.
    ///
    /// # Errors
    /// Too many tokens for the model, a projection larger than a session, activations beyond their budget.
    pub fn of(request: &PlanRequest) -> Result<Report, PlanFailure> {
        let PlanRequest { config, policy, tokens, rank, threads, .. } = request;
        let (tokens, rank) = (*tokens, *rank);
        if tokens > config.max_positions {
            return Err(PlanFailure::TooLong { tokens, max: config.max_positions });
        }
        let vtcm_bytes = request.arch.vtcm_bytes();
        let planner = ShapePlanner::new(RuntimeConfig { arch: request.arch, vtcm_bytes, ..RuntimeConfig::default() })?;
        let products = products(config, policy, &planner, tokens);
        let resident = Resident::of(config, policy);
        let activations = ActivationPlan::of(request)?;
        let adapters = Adapters::of(config, rank);
        let held = Held {
            projections: resident.bytes,
            tables: 2 * (resident.embedding_parameters + resident.head_parameters),
            adapters: adapters.bytes,
        };
        let peak = peak_parts(config, &held, activations.bytes, &[tokens], *threads);
        let step_bytes = peak.iter().map(|part| part.bytes).sum();
        let loading_bytes = loading_bytes(config, policy);
        Ok(Report {
            model: request.name.clone(),
            architecture: config.architecture.description().name,
            arch: request.arch.to_string(),
            vtcm_bytes,
            tokens,
            policy: policy.to_string(),
            counted: COUNTED,
            sessions: Sessions::of(config, policy, request.session_bytes)?,
            flops: phase_flops(config, &[tokens], rank, &activations.recomputed),
            npu: NpuTime::of(config, &products, &activations.recomputed),
            products,
            resident,
            activations,
            adapters,
            step_bytes,
            loading_bytes,
            peak_bytes: loading_bytes.max(step_bytes),
            peak,
        })
    }
}

impl NpuTime {
    fn of(config: &ModelConfig, products: &[Product], recomputed: &[usize]) -> NpuTime {
        let [mut forward, mut recompute, mut backward, mut total] = [NpuSeconds::default(); 4];
        for product in products {
            forward.add(product.forward.seconds, product.count);
            backward.add(product.input_grad.seconds, product.count - product.without_input_grad);
            if product.recomputed {
                let has = |layer: &&usize| {
                    config.layer_projections(**layer).iter().any(|p| super::products::part(&p.name) == product.name)
                };
                recompute.add(product.forward.seconds, recomputed.iter().filter(has).count());
            }
        }
        [forward, recompute, backward].into_iter().for_each(|phase| total.add(phase, 1));
        NpuTime { note: NOTE, forward, recompute, backward, total }
    }
}
