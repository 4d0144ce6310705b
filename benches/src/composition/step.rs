use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use trainer::nodes::Rotation;

use super::elementwise::{add, scale};
use super::load::Composition;
use super::norm::rms_norm;
use super::product::{head, linear};
use super::softmax::{log_softmax, mean_loss};
use super::tape::{Tape, Var};

/// A finished step.
pub struct Step {
    /// Mean of −log p over the targets.
    pub loss: f64,
    tape: Tape,
    parameters: Vec<[Var; 2]>,
}

impl Step {
    /// The gradient of every parameter, laid out as the adapter's values.
    pub fn grads(&self, composition: &Composition) -> Vec<f32> {
        let mut all = vec![0.0; composition.adapter.values.len()];
        for (pair, [a, b]) in composition.adapter.pairs().iter().zip(&self.parameters) {
            for (range, leaf) in [(&pair.a, a), (&pair.b, b)] {
                if let Some(grad) = self.tape.grad(leaf) {
                    all[range.clone()].copy_from_slice(grad);
                }
            }
        }
        all
    }

    /// Forward and backward time of every operator.
    pub fn times(&self) -> &BTreeMap<&'static str, Duration> {
        self.tape.times()
    }
}

/// The forward pass at work.
pub(super) struct Pass<'a> {
    pub model: &'a Composition,
    pub tape: Tape,
    pub tokens: usize,
    pub rotation: Arc<Rotation>,
    parameters: Vec<[Var; 2]>,
}

impl Pass<'_> {
    /// A frozen projection with its adapter: W·x, A·x, B·(A·x), scaling and sum apart.
    pub fn adapted(&mut self, name: &str, x: &Var) -> Var {
        let frozen = &self.model.frozen[name];
        let y = frozen.apply(&mut self.tape, x);
        let Some(index) = self.model.adapter.index_of(name) else { return y };
        let ((out, in_), rank) = (frozen.shape, self.model.adapter.rank);
        let [a, b] = &self.parameters[index];
        let low = linear(&mut self.tape, x, a, (rank, in_));
        let up = linear(&mut self.tape, &low, b, (out, rank));
        let scaled = scale(&mut self.tape, &up, self.model.adapter.scaling());
        add(&mut self.tape, &y, &scaled)
    }
}

impl Composition {
    /// Forward and backward of one sequence in which every token but the first is a target.
    pub fn step(&self, ids: &[u32]) -> Step {
        let (hidden, vocab) = (self.config.hidden, self.config.vocab);
        let mut tape = Tape::default();
        let leaves = |pair: &[super::tape::Tensor; 2]| pair.each_ref().map(|values| tape.leaf(values.clone()));
        let parameters = self.parameters.iter().map(leaves).collect();
        let half = self.config.rotary_dim / 2;
        let frequency = |i: usize| self.config.rope.theta.powf(-(i as f64) / half as f64);
        let frequencies: Vec<f64> = (0..half).map(frequency).collect();
        let rotation = Arc::new(Rotation::new(&frequencies, 0..ids.len()));
        let mut pass = Pass { model: self, tape, tokens: ids.len(), rotation, parameters };

        let row = |id: &u32| &self.embedding[*id as usize * hidden..][..hidden];
        let embedded: Vec<f32> = ids.iter().flat_map(row).copied().collect();
        let mut x = Var::constant(Arc::new(embedded));
        for index in 0..self.layers.len() {
            x = pass.layer(index, &x);
        }
        let tape = &mut pass.tape;
        let normed = rms_norm(tape, &x, &self.final_norm);
        drop(x);
        let logits = head(tape, &normed, &self.head, (vocab, hidden));
        drop(normed);
        let log_probs = log_softmax(tape, &logits, vocab);
        drop(logits);
        let loss = mean_loss(tape, &log_probs, vocab, &ids[1..]);
        drop(log_probs);
        tape.backward(&loss);
        Step { loss: loss.values[0].into(), tape: pass.tape, parameters: pass.parameters }
    }
}
