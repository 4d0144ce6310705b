//! LoRA: y += (alpha / rank) · B·(A·x), for all adapted projections that share the input x. Their A
//! matrices are neighbours in the adapter, so without dropout they multiply x as one matrix.
//!
//! Gradients, with s = alpha / rank, l = A·x and u = s·Bᵀ·dy:
//! dB = s·dy·lᵀ, dA = u·xᵀ, dx = Aᵀ·u; with dropout x is masked and scaled first, for each pair apart.

use super::dropout::DropoutKey;
use super::product::{Matrix, MatrixMut, Threads, multiply};
use crate::adapter::{Adapter, LoraPair};

/// The adapted ones among the projections of one input.
pub struct LoraGroup<'a> {
    adapter: &'a Adapter,
    /// Per projection of the group: its place among the members.
    places: Vec<Option<usize>>,
    members: Vec<(usize, &'a LoraPair)>,
    dropout: f32,
}

impl<'a> LoraGroup<'a> {
    /// The pairs of `names`, the projections that share an input, in model order.
    pub fn new<'n>(adapter: Option<&'a Adapter>, names: impl Iterator<Item = &'n str>, training: bool) -> Option<Self> {
        let adapter = adapter?;
        let mut members = Vec::new();
        let places = names
            .map(|name| {
                let pair = adapter.index_of(name)?;
                members.push((pair, &adapter.pairs()[pair]));
                Some(members.len() - 1)
            })
            .collect();
        let dropout = if training { adapter.dropout } else { 0.0 };
        (!members.is_empty()).then_some(LoraGroup { adapter, places, members, dropout })
    }

    /// Whether projection `slot` of the group carries an adapter.
    pub fn covers(&self, slot: usize) -> bool {
        self.places[slot].is_some()
    }

    fn rank(&self) -> usize {
        self.adapter.rank
    }

    fn width(&self) -> usize {
        self.members.len() * self.rank()
    }

    fn input(&self) -> usize {
        self.members[0].1.shape.input
    }

    /// Parts that multiply the input at once: all members, or each alone if dropout masks differ.
    /// (first member, members, range of the stacked A within the parameters)
    fn stacks(&self) -> Vec<(usize, usize, std::ops::Range<usize>)> {
        let neighbours = self.members.windows(2).all(|pair| pair[0].1.a.end == pair[1].1.a.start);
        if self.dropout == 0.0 && neighbours {
            let (first, last) = (self.members[0].1, self.members[self.members.len() - 1].1);
            vec![(0, self.members.len(), first.a.start..last.a.end)]
        } else {
            self.members.iter().enumerate().map(|(i, (_, pair))| (i, 1, pair.a.clone())).collect()
        }
    }

    /// The input as a stack sees it: itself, or its masked copy in `masked`.
    fn seen<'b>(&self, member: usize, key: DropoutKey, x: &'b [f32], masked: &'b mut Vec<f32>) -> &'b [f32] {
        if self.dropout == 0.0 {
            return x;
        }
        masked.resize(x.len(), 0.0);
        key.drop(self.members[member].0 as u64, self.dropout, self.input(), x, masked);
        masked
    }

    /// l = A·x of all members, `[rows, members · rank]`.
    pub fn down(&self, x: &[f32], rows: usize, key: DropoutKey) -> Vec<f32> {
        let (rank, width, input) = (self.rank(), self.width(), self.input());
        let mut low = vec![0.0; rows * width];
        let mut masked = Vec::new();
        for (first, count, a) in self.stacks() {
            let a = Matrix::new(&self.adapter.values[a], count * rank, input).transposed();
            let x = Matrix::new(self.seen(first, key, x, &mut masked), rows, input);
            let low = MatrixMut::strided(&mut low[first * rank..], rows, count * rank, width);
            multiply(low, false, 1.0, x, a, Threads::All);
        }
        low
    }

    /// y += s·l·Bᵀ for projection `slot` of the group; nothing if it carries no adapter.
    pub fn up(&self, slot: usize, low: &[f32], rows: usize, y: &mut [f32]) {
        let Some(place) = self.places[slot] else { return };
        let (rank, pair) = (self.rank(), self.members[place].1);
        let low = Matrix::strided(&low[place * rank..], rows, rank, self.width());
        let b = Matrix::new(&self.adapter.values[pair.b.clone()], pair.shape.out, rank).transposed();
        multiply(MatrixMut::new(y, rows, pair.shape.out), true, self.adapter.scaling(), low, b, Threads::All);
    }

    /// Zeros for [`LoraGroup::up_backward`] to fill: u of all members.
    pub fn low_grads(&self, rows: usize) -> Vec<f32> {
        vec![0.0; rows * self.width()]
    }

    /// Backward of [`LoraGroup::up`]: writes u of projection `slot` to `d_low`, adds dB to `grads`.
    pub fn up_backward(&self, slot: usize, dy: &[f32], low: &[f32], rows: usize, d_low: &mut [f32], grads: &mut [f32]) {
        let Some(place) = self.places[slot] else { return };
        let (rank, width, pair) = (self.rank(), self.width(), self.members[place].1);
        let (out, scaling) = (pair.shape.out, self.adapter.scaling());
        let dy = Matrix::new(dy, rows, out);
        let b = Matrix::new(&self.adapter.values[pair.b.clone()], out, rank);
        let d_low = MatrixMut::strided(&mut d_low[place * rank..], rows, rank, width);
        multiply(d_low, false, scaling, dy, b, Threads::All);
        let low = Matrix::strided(&low[place * rank..], rows, rank, width);
        let d_b = MatrixMut::new(&mut grads[pair.b.clone()], out, rank);
        multiply(d_b, true, scaling, dy.transposed(), low, Threads::All);
    }

    /// Backward of [`LoraGroup::down`]: adds dA to `grads`.
    pub fn down_backward(&self, x: &[f32], d_low: &[f32], rows: usize, key: DropoutKey, grads: &mut [f32]) {
        let (rank, width, input) = (self.rank(), self.width(), self.input());
        let mut masked = Vec::new();
        for (first, count, a) in self.stacks() {
            let u = Matrix::strided(&d_low[first * rank..], rows, count * rank, width).transposed();
            let x = Matrix::new(self.seen(first, key, x, &mut masked), rows, input);
            multiply(MatrixMut::new(&mut grads[a], count * rank, input), true, 1.0, u, x, Threads::All);
        }
    }

    /// Adds the adapters' share of the input's gradient to `dx`, members in order.
    pub fn input_backward(&self, d_low: &[f32], rows: usize, key: DropoutKey, dx: &mut [f32]) {
        let (rank, width, input) = (self.rank(), self.width(), self.input());
        let (mut plain, mut masked) = (Vec::new(), Vec::new());
        for (first, count, a) in self.stacks() {
            let u = Matrix::strided(&d_low[first * rank..], rows, count * rank, width);
            let a = Matrix::new(&self.adapter.values[a], count * rank, input);
            if self.dropout == 0.0 {
                multiply(MatrixMut::new(dx, rows, input), true, 1.0, u, a, Threads::All);
                continue;
            }
            plain.resize(dx.len(), 0.0);
            multiply(MatrixMut::new(&mut plain, rows, input), false, 1.0, u, a, Threads::All);
            let share = self.seen(first, key, &plain, &mut masked);
            dx.iter_mut().zip(share).for_each(|(dx, share)| *dx += share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::{AdapterGrads, ProjectionShape};
    use crate::nodes::dropout::test_values;

    const ROWS: usize = 5;
    const INPUT: usize = 7;
    const NAMES: [&str; 3] = ["q", "k", "v"];
    const OUTS: [usize; 3] = [6, 4, 9];

    fn adapter(dropout: f32, with: &[usize]) -> Adapter {
        let shape = |&i: &usize| ProjectionShape { name: NAMES[i].into(), out: OUTS[i], input: INPUT };
        let mut adapter = Adapter::zeros(with.iter().map(shape).collect(), 3, 6.0, dropout);
        adapter.values = test_values(5, adapter.values.len());
        adapter
    }

    const KEY: DropoutKey = DropoutKey { seed: 1, step: 2, first_token: 3 };

    /// Σ dy·y of the group in f64, masks taken from the product code (their rule is tested there).
    fn plain(adapter: &Adapter, values: &[f64], x: &[f64], dys: &[Vec<f32>]) -> f64 {
        let mut sum = 0.0;
        for (index, pair) in adapter.pairs().iter().enumerate() {
            let mut mask = vec![1.0; ROWS * INPUT];
            if adapter.dropout > 0.0 {
                KEY.drop(index as u64, adapter.dropout, INPUT, &[1.0; ROWS * INPUT], &mut mask);
            }
            let slot = NAMES.iter().position(|n| *n == pair.shape.name).unwrap();
            for t in 0..ROWS {
                let low: Vec<f64> = (0..3)
                    .map(|r| {
                        let at = |i| {
                            values[pair.a.start + r * INPUT + i] * x[t * INPUT + i] * f64::from(mask[t * INPUT + i])
                        };
                        (0..INPUT).map(at).sum()
                    })
                    .collect();
                for o in 0..pair.shape.out {
                    let y: f64 = (0..3).map(|r| values[pair.b.start + o * 3 + r] * low[r]).sum();
                    sum += 2.0 * y * f64::from(dys[slot][t * pair.shape.out + o]);
                }
            }
        }
        sum
    }

    fn check(dropout: f32, with: &[usize]) {
        let adapter = adapter(dropout, with);
        let group = LoraGroup::new(Some(&adapter), NAMES.into_iter(), true).unwrap();
        let x = test_values(1, ROWS * INPUT);
        let dys: Vec<Vec<f32>> = (0..3).map(|i| test_values(10 + i as u64, ROWS * OUTS[i])).collect();
        let low = group.down(&x, ROWS, KEY);
        let mut forward = 0.0;
        let (mut d_low, mut grads) = (group.low_grads(ROWS), AdapterGrads::zeros(&adapter));
        for slot in 0..3 {
            let mut y = vec![0.0; ROWS * OUTS[slot]];
            group.up(slot, &low, ROWS, &mut y);
            forward += y.iter().zip(&dys[slot]).map(|(y, d)| f64::from(*y) * f64::from(*d)).sum::<f64>();
            group.up_backward(slot, &dys[slot], &low, ROWS, &mut d_low, &mut grads.values);
        }
        group.down_backward(&x, &d_low, ROWS, KEY, &mut grads.values);
        let mut dx = vec![0.0; x.len()];
        group.input_backward(&d_low, ROWS, KEY, &mut dx);

        let wide = |v: &[f32]| -> Vec<f64> { v.iter().map(|&v| v.into()).collect() };
        let (values, x) = (wide(&adapter.values), wide(&x));
        assert!((forward - plain(&adapter, &values, &x, &dys)).abs() < 1e-4);
        for (i, grad) in grads.values.iter().enumerate() {
            let mut moved = values.clone();
            moved[i] += 1e-4;
            let high = plain(&adapter, &moved, &x, &dys);
            moved[i] -= 2e-4;
            let slope = (high - plain(&adapter, &moved, &x, &dys)) / 2e-4;
            assert!((f64::from(*grad) - slope).abs() < 1e-4, "parameter {i}: {grad} {slope}");
        }
        for (i, grad) in dx.iter().enumerate() {
            let mut moved = x.clone();
            moved[i] += 1e-4;
            let high = plain(&adapter, &values, &moved, &dys);
            moved[i] -= 2e-4;
            let slope = (high - plain(&adapter, &values, &moved, &dys)) / 2e-4;
            assert!((f64::from(*grad) - slope).abs() < 1e-4, "input {i}: {grad} {slope}");
        }
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        check(0.0, &[0, 1, 2]);
        check(0.0, &[0, 2]);
        check(0.4, &[0, 1, 2]);
    }

    #[test]
    fn a_group_without_pairs_does_not_exist() {
        let adapter = adapter(0.0, &[0]);
        assert!(LoraGroup::new(Some(&adapter), ["o"].into_iter(), true).is_none());
        assert!(LoraGroup::new(None, NAMES.into_iter(), true).is_none());
    }
}
