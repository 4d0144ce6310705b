//! Where each A and B lies in one flat parameter vector.

use crate::registry::Projection;
use std::collections::HashMap;
use std::ops::Range;

/// A frozen projection that can carry an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectionShape {
    /// HF name without `.weight`, e.g. `model.layers.0.self_attn.q_proj`.
    pub name: String,
    /// Output features (rows of the weight).
    pub out: usize,
    /// Input features (columns of the weight).
    pub input: usize,
}

impl From<Projection> for ProjectionShape {
    fn from(projection: Projection) -> ProjectionShape {
        ProjectionShape { name: projection.name, out: projection.rows, input: projection.cols }
    }
}

/// The adapter of one projection: `W·x + (alpha / rank) · B·(A·x)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoraPair {
    /// The projection adapted.
    pub shape: ProjectionShape,
    /// A, `[rank, input]`, within the flat parameters.
    pub a: Range<usize>,
    /// B, `[out, rank]`, within the flat parameters.
    pub b: Range<usize>,
}

/// A LoRA adapter: all parameters in one vector, every A in projection order, then every B. So the
/// A matrices of projections that share an input are neighbours and multiply it as one matrix.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// Rank r of every pair.
    pub rank: usize,
    /// The factor on B·A·x is `alpha / rank`.
    pub alpha: f32,
    /// Probability that an input element of A is dropped in training.
    pub dropout: f32,
    pairs: Vec<LoraPair>,
    /// Parameters, laid out by [`Adapter::pairs`].
    pub values: Vec<f32>,
    index: HashMap<String, usize>,
}

impl Adapter {
    /// An adapter of zeros for `shapes`, in their order.
    pub fn zeros(shapes: Vec<ProjectionShape>, rank: usize, alpha: f32, dropout: f32) -> Self {
        let inputs: usize = shapes.iter().map(|s| s.input * rank).sum();
        let (mut a, mut b) = (0, inputs);
        let mut pairs = Vec::with_capacity(shapes.len());
        for shape in shapes {
            let (a_len, b_len) = (shape.input * rank, shape.out * rank);
            pairs.push(LoraPair { shape, a: a..a + a_len, b: b..b + b_len });
            (a, b) = (a + a_len, b + b_len);
        }
        let index = pairs.iter().enumerate().map(|(i, p)| (p.shape.name.clone(), i)).collect();
        Adapter { rank, alpha, dropout, pairs, values: vec![0.0; b], index }
    }

    /// Pairs in projection order.
    pub fn pairs(&self) -> &[LoraPair] {
        &self.pairs
    }

    /// Place of a projection's pair within [`Adapter::pairs`].
    pub fn index_of(&self, projection: &str) -> Option<usize> {
        self.index.get(projection).copied()
    }

    /// Factor on B·A·x.
    pub fn scaling(&self) -> f32 {
        self.alpha / self.rank as f32
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.values.len()
    }

    /// The adapted projections' last name parts, sorted, each once (PEFT's `target_modules`).
    pub fn target_modules(&self) -> Vec<String> {
        let parts = self.pairs.iter().filter_map(|p| p.shape.name.rsplit('.').next());
        let mut modules: Vec<String> = parts.map(str::to_owned).collect();
        modules.sort();
        modules.dedup();
        modules
    }
}

/// Gradients in the layout of the adapter they belong to.
#[derive(Clone, Debug)]
pub struct AdapterGrads {
    /// One value per parameter.
    pub values: Vec<f32>,
}

impl AdapterGrads {
    /// Zero gradients for an adapter.
    pub fn zeros(adapter: &Adapter) -> Self {
        AdapterGrads { values: vec![0.0; adapter.values.len()] }
    }

    /// Sets every gradient to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }
}
