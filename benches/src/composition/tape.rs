use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A tensor in memory, row-major; its shape is known to whoever uses it.
pub type Tensor = Arc<Vec<f32>>;

/// An operator's input or output.
#[derive(Clone)]
pub struct Var {
    /// The values.
    pub values: Tensor,
    /// Where its gradient is gathered; `None` if nothing trainable lies below.
    slot: Option<usize>,
}

impl Var {
    /// A tensor without a gradient.
    pub fn constant(values: Tensor) -> Var {
        Var { values, slot: None }
    }

    /// Whether a gradient is wanted.
    pub fn wanted(&self) -> bool {
        self.slot.is_some()
    }
}

/// Gradients of an operator's outputs to those of its inputs. An output nobody used has none.
type Backward = Box<dyn FnOnce(Vec<Option<Tensor>>) -> Vec<Option<Tensor>>>;

struct Node {
    operator: &'static str,
    inputs: Vec<Option<usize>>,
    outputs: Range<usize>,
    backward: Backward,
}

/// What the forward pass leaves: one node an operator, with the tensors its backward needs. Walked once, from the end;
/// a node's tensors are freed as soon as its backward is done.
pub struct Tape {
    nodes: Vec<Node>,
    grads: Vec<Option<Tensor>>,
    times: BTreeMap<&'static str, Duration>,
    /// When the operator before was done.
    last: Instant,
}

impl Default for Tape {
    fn default() -> Tape {
        Tape { nodes: Vec::new(), grads: Vec::new(), times: BTreeMap::new(), last: Instant::now() }
    }
}

impl Tape {
    /// A trainable tensor.
    pub fn leaf(&mut self, values: Tensor) -> Var {
        self.grads.push(None);
        Var { values, slot: Some(self.grads.len() - 1) }
    }

    /// Records an operator with one output, already computed.
    pub fn record(
        &mut self,
        operator: &'static str,
        inputs: &[&Var],
        output: Tensor,
        backward: impl FnOnce(&Tensor) -> Vec<Option<Tensor>> + 'static,
    ) -> Var {
        let backward = |dys: Vec<Option<Tensor>>| dys[0].as_ref().map_or_else(Vec::new, backward);
        let mut outputs = self.record_all(operator, inputs, vec![output], backward);
        outputs.remove(0)
    }

    /// Records an operator with several outputs.
    pub fn record_all(
        &mut self,
        operator: &'static str,
        inputs: &[&Var],
        outputs: Vec<Tensor>,
        backward: impl FnOnce(Vec<Option<Tensor>>) -> Vec<Option<Tensor>> + 'static,
    ) -> Vec<Var> {
        let wanted = inputs.iter().any(|input| input.wanted());
        let first = self.grads.len();
        if wanted {
            let slots = first..first + outputs.len();
            self.grads.resize(slots.end, None);
            let inputs = inputs.iter().map(|input| input.slot).collect();
            self.nodes.push(Node { operator, inputs, outputs: slots, backward: Box::new(backward) });
        }
        self.passed(operator);
        let slot = |index| wanted.then_some(first + index);
        outputs.into_iter().enumerate().map(|(index, values)| Var { values, slot: slot(index) }).collect()
    }

    /// From the gradient 1 of `loss` down to the leaves.
    pub fn backward(&mut self, loss: &Var) {
        let Some(slot) = loss.slot else { return };
        self.grads[slot] = Some(Arc::new(vec![1.0]));
        while let Some(Node { operator, inputs, outputs, backward }) = self.nodes.pop() {
            let dys: Vec<_> = outputs.map(|slot| self.grads[slot].take()).collect();
            if dys.iter().any(Option::is_some) {
                let shares = backward(dys);
                for (slot, share) in inputs.into_iter().zip(shares) {
                    if let (Some(slot), Some(share)) = (slot, share) {
                        accumulate(&mut self.grads[slot], share);
                    }
                }
            }
            self.passed(operator);
        }
    }

    /// The gradient of a leaf, once [`Tape::backward`] is through.
    pub fn grad(&self, leaf: &Var) -> Option<&[f32]> {
        self.grads[leaf.slot?].as_ref().map(|grad| grad.as_slice())
    }

    /// Forward and backward time of every operator.
    pub fn times(&self) -> &BTreeMap<&'static str, Duration> {
        &self.times
    }

    fn passed(&mut self, operator: &'static str) {
        let now = Instant::now();
        *self.times.entry(operator).or_default() += now - std::mem::replace(&mut self.last, now);
    }
}

/// A first share is taken as it is; a later one is added, in place if nobody else holds the sum.
fn accumulate(sum: &mut Option<Tensor>, share: Tensor) {
    match sum {
        None => *sum = Some(share),
        Some(sum) => match Arc::get_mut(sum) {
            Some(sum) => super::elementwise::add_to(sum, &share),
            None => *sum = super::elementwise::zip(sum, &share, |a, b| a + b),
        },
    }
}
