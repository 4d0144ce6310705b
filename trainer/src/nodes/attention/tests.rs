use super::*;
use crate::nodes::difference::{deviation, product, values};
use crate::nodes::dropout::test_values;

const SHAPE: AttentionShape = AttentionShape { heads: 4, kv_heads: 2, head_dim: 6 };

/// Plain attention in f64 over one span, head-major inputs, `[heads][T][dim]` output.
fn plain(q: &[f64], k: &[f64], v: &[f64], spans: &[Range<usize>]) -> Vec<f64> {
    let (tokens, dim) = (spans.last().unwrap().end, SHAPE.head_dim);
    let mut out = vec![0.0; q.len()];
    for head in 0..SHAPE.heads {
        let kv = head / (SHAPE.heads / SHAPE.kv_heads);
        for span in spans {
            for t in span.clone() {
                let score = |s: usize| -> f64 {
                    let at = |i| q[(head * tokens + t) * dim + i] * k[(kv * tokens + s) * dim + i];
                    (0..dim).map(at).sum::<f64>() / (dim as f64).sqrt()
                };
                let weights: Vec<f64> = (span.start..=t).map(|s| score(s).exp()).collect();
                let total: f64 = weights.iter().sum();
                for (s, w) in (span.start..=t).zip(&weights) {
                    for i in 0..dim {
                        out[(head * tokens + t) * dim + i] += w / total * v[(kv * tokens + s) * dim + i];
                    }
                }
            }
        }
    }
    out
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| v.into()).collect()
}

struct Case {
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    out: Vec<f32>,
    log_sum: Vec<f32>,
}

fn case(spans: &[Range<usize>]) -> Case {
    let tokens = spans.last().unwrap().end;
    let width = tokens * SHAPE.head_dim;
    let scaled =
        |seed, heads: usize| -> Vec<f32> { test_values(seed, heads * width).iter().map(|v| 3.0 * v).collect() };
    let (q, k, v) = (scaled(1, SHAPE.heads), scaled(2, SHAPE.kv_heads), scaled(3, SHAPE.kv_heads));
    let (mut out, mut log_sum) = (vec![0.0; q.len()], vec![0.0; SHAPE.heads * tokens]);
    attention_forward(SHAPE, &q, &k, &v, spans, &mut out, &mut log_sum);
    Case { q, k, v, out, log_sum }
}

#[test]
fn forward_agrees_with_f64_over_several_blocks_and_spans() {
    let spans = [0..1, 1..140, 140..204];
    let Case { q, k, v, out, .. } = case(&spans);
    for (a, b) in out.iter().zip(plain(&wide(&q), &wide(&k), &wide(&v), &spans)) {
        assert!((f64::from(*a) - b).abs() < 2e-6 * 3.0);
    }
}

#[test]
fn backward_agrees_with_differences_over_several_blocks_and_spans() {
    let spans = [0..70, 70..73];
    let (tokens, dim) = (73, SHAPE.head_dim);
    let [q, k, v] = [(1, SHAPE.heads), (2, SHAPE.kv_heads), (3, SHAPE.kv_heads)]
        .map(|(seed, heads)| values(seed, heads * tokens * dim, 3.0));
    let d_out = values(9, q.len(), 1.0);
    let forward = |q: &[f64], k: &[f64], v: &[f64]| {
        let (mut out, mut log_sum) = (vec![0.0; q.len()], vec![0.0; SHAPE.heads * tokens]);
        attention_forward(SHAPE, q, k, v, &spans, &mut out, &mut log_sum);
        (out, log_sum)
    };
    let (out, log_sum) = forward(&q, &k, &v);
    let mut attended = vec![0.0; out.len()];
    crate::nodes::rope::join_heads(&out, tokens, dim, &mut attended);
    let (mut dq, mut dk, mut dv) = (vec![1.0; q.len()], vec![1.0; k.len()], vec![1.0; v.len()]);
    attention_backward(SHAPE, (&q, &k, &v), &attended, &log_sum, &d_out, &spans, (&mut dq, &mut dk, &mut dv));
    let value = |q: &[f64], k: &[f64], v: &[f64]| product(&forward(q, k, v).0, &d_out);
    let off = [
        deviation(&q, &dq, 31, |moved| value(moved, &k, &v)),
        deviation(&k, &dk, 31, |moved| value(&q, moved, &v)),
        deviation(&v, &dv, 31, |moved| value(&q, &k, moved)),
    ];
    assert!(off.iter().all(|off| *off < 1e-8), "{off:?}");
}

#[test]
fn context_pieces_are_one_row_of_keys() {
    let whole = 0..100;
    let spans = std::slice::from_ref(&whole);
    let Case { q, k, v, out, .. } = case(spans);
    let dim = SHAPE.head_dim;
    let rows = |b: &'static str, r: Range<usize>| match b {
        "k" => &k[r.start * dim..r.end * dim],
        _ => &v[r.start * dim..r.end * dim],
    };
    let piece = |r: Range<usize>, causal| Visible { keys: rows("k", r.clone()), values: rows("v", r), causal };
    let pieces = [piece(0..30, false), piece(30..71, false), piece(71..100, true)];
    let (mut part, mut log_sum) = (vec![0.0; 29 * dim], vec![0.0; 29]);
    attend(SHAPE, &q[71 * dim..100 * dim], &pieces, &mut part, &mut log_sum);
    for (a, b) in part.iter().zip(&out[71 * dim..100 * dim]) {
        assert!((a - b).abs() < 1e-5);
    }
}

#[test]
fn one_visible_key_has_no_gradient_of_queries_and_keys() {
    // Spans of one token: the probability is 1 whatever the score, so rounding must not leave a gradient for Adam to amplify.
    let spans: Vec<_> = (0..40).map(|t| t..t + 1).collect();
    let Case { q, k, v, out, log_sum } = case(&spans);
    let d_out = test_values(11, out.len());
    let mut attended = vec![0.0; out.len()];
    crate::nodes::rope::join_heads(&out, 40, SHAPE.head_dim, &mut attended);
    let (mut dq, mut dk, mut dv) = (vec![1.0; q.len()], vec![1.0; k.len()], vec![1.0; v.len()]);
    attention_backward(SHAPE, (&q, &k, &v), &attended, &log_sum, &d_out, &spans, (&mut dq, &mut dk, &mut dv));
    assert!(dq.iter().chain(&dk).all(|g| *g == 0.0), "largest {:e}", dq.iter().fold(0f32, |m, g| m.max(g.abs())));
    assert!(dv.iter().any(|g| *g != 0.0));
}
