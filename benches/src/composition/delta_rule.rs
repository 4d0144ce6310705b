//! The gated delta rule as one operator, token by token: S ← e^g·S, d = β·(v − Sᵀk), S ← S + k·dᵀ, o = Sᵀq, for each
//! value head. The state of every sixteenth token is kept for the backward pass, which computes those between again:
//! keeping all of them takes sixteen times the memory.

use std::sync::Arc;

use rayon::prelude::*;
use trainer::nodes::{DeltaShape, sum, vectorised};

use super::heads::transpose;
use super::tape::{Tape, Tensor, Var};

/// q, k `[T, key_heads·key_dim]`, v `[T, value_heads·value_dim]`, β and e^g `[T, value_heads]`.
struct Inputs {
    shape: DeltaShape,
    parts: [Tensor; 5],
}

/// Terms of a row's sums that are added side by side.
const LANES: usize = 16;
/// Tokens from one state kept to the next.
const STRIDE: usize = 16;

/// A token's share of the inputs.
struct Token<'a> {
    q: &'a [f32],
    k: &'a [f32],
    v: &'a [f32],
    beta: f32,
    decay: f32,
}

impl Inputs {
    fn tokens(&self) -> usize {
        self.parts[3].len() / self.shape.value_heads
    }

    #[inline(always)]
    fn token(&self, head: usize, t: usize) -> Token<'_> {
        let DeltaShape { key_heads, value_heads, key_dim, value_dim, .. } = self.shape;
        let [q, k, v, beta, decay] = &self.parts;
        let key = (t * key_heads + head / (value_heads / key_heads)) * key_dim;
        let row = t * value_heads + head;
        Token {
            q: &q[key..key + key_dim],
            k: &k[key..key + key_dim],
            v: &v[row * value_dim..][..value_dim],
            beta: beta[row],
            decay: decay[row],
        }
    }
}

/// The operator; o is `[T, value_heads·value_dim]`.
pub fn delta_rule(tape: &mut Tape, shape: DeltaShape, vars: [&Var; 5]) -> Var {
    let inputs = Inputs { shape, parts: vars.map(|var| var.values.clone()) };
    let (tokens, width) = (inputs.tokens(), shape.value_dim);
    let mut o = vec![0.0; tokens * shape.values()];
    let run = |(head, o): (usize, &mut [f32])| {
        vectorised(
            #[inline(always)]
            || forward(&inputs, head, o),
        )
    };
    let kept: Vec<Vec<f32>> = o.par_chunks_mut(tokens * width).enumerate().map(run).collect();
    let o = transpose(&o, (shape.value_heads, tokens), width);
    tape.record("delta rule", &vars, o, move |dy| {
        let run = |(head, kept): (usize, Vec<f32>)| {
            vectorised(
                #[inline(always)]
                || backward(&inputs, head, &kept, dy),
            )
        };
        let heads: Vec<[Vec<f32>; 5]> = kept.into_par_iter().enumerate().map(run).collect();
        gather(shape, tokens, &heads)
    })
}

/// Fills o of one head, `[T][value_dim]`, and gives the states before tokens 0, 16, 32, …
#[inline(always)]
fn forward(inputs: &Inputs, head: usize, o: &mut [f32]) -> Vec<f32> {
    let (tokens, width) = (inputs.tokens(), inputs.shape.value_dim);
    let state = inputs.shape.key_dim * width;
    let mut kept = Vec::with_capacity(tokens.div_ceil(STRIDE) * state);
    let (mut states, mut read) = (vec![0.0; (STRIDE + 1) * state], vec![0.0; STRIDE * width]);
    for (run, o) in o.chunks_mut(STRIDE * width).enumerate() {
        let count = o.len() / width;
        kept.extend_from_slice(&states[..state]);
        advance(inputs, head, run * STRIDE, &mut states[..(count + 1) * state], &mut read, o);
        states.copy_within(count * state..(count + 1) * state, 0);
    }
    kept
}

/// Runs tokens from `first` on, one for each state after the first of `states`; `read` takes every token's Sᵀk from
/// before it was written.
#[inline(always)]
fn advance(inputs: &Inputs, head: usize, first: usize, states: &mut [f32], read: &mut [f32], o: &mut [f32]) {
    let width = inputs.shape.value_dim;
    let state = inputs.shape.key_dim * width;
    let mut d = vec![0.0; width];
    for (index, (o, read)) in o.chunks_exact_mut(width).zip(read.chunks_exact_mut(width)).enumerate() {
        let Token { q, k, v, beta, decay } = inputs.token(head, first + index);
        let (before, after) = states[index * state..(index + 2) * state].split_at_mut(state);
        read.fill(0.0);
        for ((after, before), k) in after.chunks_exact_mut(width).zip(before.chunks_exact(width)).zip(k) {
            for ((after, before), read) in after.iter_mut().zip(before).zip(read.iter_mut()) {
                *after = decay * before;
                *read += k * *after;
            }
        }
        d.iter_mut().zip(v).zip(read.iter()).for_each(|((d, v), read)| *d = beta * (v - read));
        o.fill(0.0);
        for ((after, k), q) in after.chunks_exact_mut(width).zip(k).zip(q) {
            for ((after, d), o) in after.iter_mut().zip(&d).zip(o.iter_mut()) {
                *after += k * d;
                *o += q * *after;
            }
        }
    }
}

/// Gradients of one head's q, k, v, β and e^g. With G the gradient of the state, in reverse order: dq = S·do,
/// G ← G + q·doᵀ, dd = Gᵀk, dv = β·dd, dβ = dd·(v − Sᵀk), dk = G·d − (e^g·S′)·dv, G ← G − k·dvᵀ, de^g = ⟨G, S′⟩,
/// G ← e^g·G, S′ the state before the token.
#[inline(always)]
fn backward(inputs: &Inputs, head: usize, kept: &[f32], dy: &[f32]) -> [Vec<f32>; 5] {
    let (dim, width) = (inputs.shape.key_dim, inputs.shape.value_dim);
    let (tokens, state) = (inputs.tokens(), dim * width);
    let mut grads = [dim, dim, width, 1, 1].map(|width| vec![0.0; tokens * width]);
    let [dq, dk, dv, d_beta, d_decay] = &mut grads;
    let mut g = vec![0.0; state];
    let [mut d, mut dd] = [0, 1].map(|_| vec![0.0; width]);
    let (mut states, mut reads) = (vec![0.0; (STRIDE + 1) * state], vec![0.0; STRIDE * width]);
    let mut o = vec![0.0; STRIDE * width];
    for t in (0..tokens).rev() {
        let (first, index) = (t / STRIDE * STRIDE, t % STRIDE);
        if index == STRIDE - 1 || t == tokens - 1 {
            states[..state].copy_from_slice(&kept[t / STRIDE * state..][..state]);
            let count = index + 1;
            advance(inputs, head, first, &mut states[..(count + 1) * state], &mut reads, &mut o[..count * width]);
        }
        let Token { q, k, v, beta, decay } = inputs.token(head, t);
        let d_o = &dy[t * inputs.shape.values() + head * width..][..width];
        let (before, after) = states[index * state..(index + 2) * state].split_at(state);
        let read = &reads[index * width..][..width];
        let dv = &mut dv[t * width..][..width];
        dd.fill(0.0);
        for (i, (g, after)) in g.chunks_exact_mut(width).zip(after.chunks_exact(width)).enumerate() {
            dq[t * dim + i] = read_back(g, after, d_o, &mut dd, (q[i], k[i]));
        }
        for i in 0..width {
            let error = v[i] - read[i];
            d[i] = beta * error;
            dv[i] = beta * dd[i];
            d_beta[t] += dd[i] * error;
        }
        for (i, (g, before)) in g.chunks_exact_mut(width).zip(before.chunks_exact(width)).enumerate() {
            let [from_d, from_dv, from_before] = write_back(g, before, &d, dv, (k[i], decay));
            dk[t * dim + i] = from_d - decay * from_dv;
            d_decay[t] += from_before;
        }
    }
    grads
}

/// One row of the state where the token was read: G ← G + q·do and dd ← dd + k·G; gives S·do.
#[inline(always)]
fn read_back(g: &mut [f32], after: &[f32], d_o: &[f32], dd: &mut [f32], (q, k): (f32, f32)) -> f32 {
    let mut lanes = [0.0; LANES];
    let rows = g.chunks_mut(LANES).zip(after.chunks(LANES)).zip(d_o.chunks(LANES)).zip(dd.chunks_mut(LANES));
    for (((g, after), d_o), dd) in rows {
        for ((((lane, g), after), d_o), dd) in lanes.iter_mut().zip(g).zip(after).zip(d_o).zip(dd) {
            *lane += after * d_o;
            *g += q * d_o;
            *dd += k * *g;
        }
    }
    sum(&lanes)
}

/// One row of the state where the token was written: G ← e^g·(G − k·dv); gives G·d, S′·dv and (G − k·dv)·S′.
#[inline(always)]
fn write_back(g: &mut [f32], before: &[f32], d: &[f32], dv: &[f32], (k, decay): (f32, f32)) -> [f32; 3] {
    let mut lanes = [[0.0; LANES]; 3];
    let rows = g.chunks_mut(LANES).zip(before.chunks(LANES)).zip(d.chunks(LANES)).zip(dv.chunks(LANES));
    for (((g, before), d), dv) in rows {
        let [from_d, from_dv, from_before] = &mut lanes;
        let lanes = from_d.iter_mut().zip(from_dv).zip(from_before);
        for (((((from_d, from_dv), from_before), g), before), (d, dv)) in lanes.zip(g).zip(before).zip(d.iter().zip(dv))
        {
            *from_d += *g * d;
            *from_dv += before * dv;
            *g -= k * dv;
            *from_before += *g * before;
            *g *= decay;
        }
    }
    lanes.map(|lanes| sum(&lanes))
}

/// Heads' gradients as the inputs' rows; those of a key head are the sum over its value heads.
fn gather(shape: DeltaShape, tokens: usize, heads: &[[Vec<f32>; 5]]) -> Vec<Option<Tensor>> {
    let widths = [shape.key_dim, shape.key_dim, shape.value_dim, 1, 1];
    let group = shape.value_heads / shape.key_heads;
    let gathered = widths.iter().enumerate().map(|(part, &width)| {
        let members = if part < 2 { group } else { 1 };
        let mut rows = vec![0.0; tokens * heads.len() / members * width];
        rows.par_chunks_mut(heads.len() / members * width).enumerate().for_each(|(t, row)| {
            for (head, grads) in heads.iter().enumerate() {
                let to = &mut row[head / members * width..][..width];
                to.iter_mut().zip(&grads[part][t * width..]).for_each(|(to, from)| *to += from);
            }
        });
        Some(Arc::new(rows))
    });
    gathered.collect()
}
