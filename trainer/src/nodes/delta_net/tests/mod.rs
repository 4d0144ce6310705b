//! The fused node against its token-by-token form, and its backward pass against differences.

mod token_by_token;

use super::*;
use crate::nodes::difference::{deviation, product, values};

const SHAPE: DeltaShape = DeltaShape { key_heads: 2, value_heads: 4, key_dim: 6, value_dim: 5, kernel: 4 };

struct Case {
    shape: DeltaShape,
    weights: DeltaWeights<f64>,
    u: Vec<f64>,
    z: Vec<f64>,
    b: Vec<f64>,
    a: Vec<f64>,
}

impl Case {
    fn new(shape: DeltaShape, tokens: usize) -> Case {
        let positive = |seed, len, scale| values(seed, len, 1.0).iter().map(|v| scale * (1.05 + v)).collect();
        let weights = DeltaWeights {
            conv: values(1, shape.kernel * shape.channels(), 0.8),
            rate: positive(2, shape.value_heads, 0.4),
            dt_bias: values(3, shape.value_heads, 1.0),
            norm: positive(4, shape.value_dim, 1.0),
            norm_eps: 1e-6,
        };
        Case {
            shape,
            weights,
            u: values(5, tokens * shape.channels(), 2.0),
            z: values(6, tokens * shape.values(), 2.0),
            b: values(7, tokens * shape.value_heads, 2.0),
            a: values(8, tokens * shape.value_heads, 3.0),
        }
    }

    fn input(&self) -> DeltaInput<'_, f64> {
        DeltaInput { u: &self.u, z: &self.z, b: &self.b, a: &self.a }
    }

    fn forward(&self, spans: &[Range<usize>]) -> Vec<f64> {
        let mut out = vec![0.0; self.z.len()];
        delta_net_forward(self.shape, &self.weights, self.input(), spans, &mut out);
        out
    }

    /// The same in f32.
    fn narrow_forward(&self, spans: &[Range<usize>]) -> Vec<f32> {
        let narrow = |v: &[f64]| -> Vec<f32> { v.iter().map(|v| *v as f32).collect() };
        let DeltaWeights { conv, rate, dt_bias, norm, .. } = &self.weights;
        let [conv, rate, dt_bias, norm] = [conv, rate, dt_bias, norm].map(|v| narrow(v));
        let weights = DeltaWeights { conv, rate, dt_bias, norm, norm_eps: 1e-6 };
        let [u, z, b, a] = [&self.u, &self.z, &self.b, &self.a].map(|v| narrow(v));
        let mut out = vec![0.0; z.len()];
        let input = DeltaInput { u: &u, z: &z, b: &b, a: &a };
        delta_net_forward(self.shape, &weights, input, spans, &mut out);
        out
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// Spans of the given lengths.
fn packed(lengths: &[usize]) -> Vec<Range<usize>> {
    let mut end = 0;
    let mut next = |length: &usize| {
        end += length;
        end - length..end
    };
    lengths.iter().map(&mut next).collect()
}

/// Lengths around the chunk, and edges of documents inside what would be one chunk.
const LENGTHS: [&[usize]; 9] =
    [&[1], &[15], &[16], &[17], &[67], &[1024], &[3, 9, 1, 20], &[15, 2, 17, 33], &[1, 1, 1, 64]];

#[test]
fn chunks_give_what_single_tokens_give() {
    for lengths in LENGTHS {
        let spans = packed(lengths);
        let case = Case::new(SHAPE, lengths.iter().sum());
        let exact = token_by_token::forward(SHAPE, &case.weights, case.input(), &spans);
        let off = |out: &[f64]| exact.iter().zip(out).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / largest(&exact);
        let chunked = off(&case.forward(&spans));
        assert!(chunked < 1e-12, "{lengths:?}: {chunked:e}");
        let narrow: Vec<f64> = case.narrow_forward(&spans).into_iter().map(f64::from).collect();
        let narrow = off(&narrow);
        println!("{lengths:?}: f64 {chunked:.1e}, f32 {narrow:.1e}");
        assert!(narrow < 1e-5, "{lengths:?}: {narrow:e} in f32");
    }
}

#[test]
fn backward_agrees_with_differences() {
    // One and several value heads a key head, other kernels, and a key wider than a chunk.
    let shapes = [
        SHAPE,
        DeltaShape { key_heads: 1, value_heads: 1, key_dim: 20, value_dim: 3, kernel: 3 },
        DeltaShape { key_heads: 2, value_heads: 6, key_dim: 4, value_dim: 7, kernel: 1 },
    ];
    for (shape, lengths) in shapes.into_iter().zip([&[35, 3, 17][..], &[1, 40], &[16, 18]]) {
        let spans = packed(lengths);
        let case = Case::new(shape, lengths.iter().sum());
        let dy = values(9, case.z.len(), 1.0);
        let mut grads = [&case.u, &case.z, &case.b, &case.a].map(|v| vec![9.0; v.len()]);
        let [u, z, b, a] = grads.each_mut().map(Vec::as_mut_slice);
        delta_net_backward(shape, &case.weights, case.input(), &spans, &dy, DeltaGrads { u, z, b, a });
        let value = |input: DeltaInput<'_, f64>| {
            let mut out = vec![0.0; dy.len()];
            delta_net_forward(shape, &case.weights, input, &spans, &mut out);
            product(&out, &dy)
        };
        let input = case.input();
        let off = [
            deviation(&case.u, &grads[0], 7, |u| value(DeltaInput { u, ..input })),
            deviation(&case.z, &grads[1], 5, |z| value(DeltaInput { z, ..input })),
            deviation(&case.b, &grads[2], 1, |b| value(DeltaInput { b, ..input })),
            deviation(&case.a, &grads[3], 1, |a| value(DeltaInput { a, ..input })),
        ];
        println!("{shape:?} {lengths:?}: u {:.1e}, z {:.1e}, b {:.1e}, a {:.1e}", off[0], off[1], off[2], off[3]);
        assert!(off.iter().all(|off| *off < 1e-7), "{shape:?} {lengths:?}: {off:?}");
    }
}

#[test]
fn documents_do_not_see_each_other() {
    let case = Case::new(SHAPE, 40);
    let packed = case.forward(&[0..13, 13..40]);
    let mut moved = Case::new(SHAPE, 40);
    moved.u[..13 * SHAPE.channels()].iter_mut().for_each(|u| *u += 1.0);
    let other = moved.forward(&[0..13, 13..40]);
    let edge = 13 * SHAPE.values();
    assert_eq!(packed[edge..], other[edge..]);
    assert_ne!(packed[..edge], other[..edge]);
    assert_ne!(packed[edge..], case.forward(std::slice::from_ref(&(0..40)))[edge..]);
}

/// A trunk, two branches from its end, and a twig from the first branch, against whole sequences.
#[test]
fn runs_continue_from_any_earlier_end() {
    let case = Case::new(SHAPE, 60);
    let rows = |v: &[f64], width: usize, parts: &[Range<usize>]| -> Vec<f64> {
        parts.iter().flat_map(|part| v[part.start * width..part.end * width].to_vec()).collect()
    };
    let take = |parts: &[Range<usize>]| Case {
        weights: Case::new(SHAPE, 1).weights,
        shape: SHAPE,
        u: rows(&case.u, SHAPE.channels(), parts),
        z: rows(&case.z, SHAPE.values(), parts),
        b: rows(&case.b, SHAPE.value_heads, parts),
        a: rows(&case.a, SHAPE.value_heads, parts),
    };
    let whole = |parts: &[Range<usize>]| {
        let case = take(parts);
        let tokens = parts.iter().map(Range::len).sum();
        let out = case.forward(&packed(&[tokens]));
        let last = parts[parts.len() - 1].len();
        out[(tokens - last) * SHAPE.values()..].to_vec()
    };
    let go_on = |case: &Case, spans: &[Range<usize>], starts: &[DeltaStart<'_, f64>]| {
        let mut out = vec![0.0; case.z.len()];
        let ends = delta_net_continue(SHAPE, &case.weights, case.input(), (spans, starts), &mut out);
        (out, ends)
    };
    let (trunk, first, second, twig) = (0..21, 21..23, 23..58, 58..60);
    let (_, ends) = go_on(&take(std::slice::from_ref(&trunk)), &packed(&[21]), &[DeltaStart::Empty]);
    let rest = take(&[first.clone(), second.clone(), twig.clone()]);
    let starts = [DeltaStart::Kept(&ends[0]), DeltaStart::Kept(&ends[0]), DeltaStart::Run(0)];
    let (out, _) = go_on(&rest, &[0..2, 2..37, 37..39], &starts);
    let expected =
        [whole(&[trunk.clone(), first.clone()]), whole(&[trunk.clone(), second]), whole(&[trunk, first, twig])]
            .concat();
    assert_eq!(out.len(), expected.len());
    for (a, b) in out.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-12 * largest(&expected), "{a} {b}");
    }
}
