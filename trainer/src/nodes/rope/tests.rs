use super::*;
use crate::nodes::difference::{deviation, product, values};
use std::iter::once;

const TOKENS: usize = 5;
const HEADS: usize = 3;

fn rope(theta: f64) -> Rope {
    Rope { theta, scaling: None }
}

/// Forward of rows `[TOKENS, HEADS·stride]` and the check of its backward against differences.
fn check(layout: HeadRows, rotary: usize, norm: Option<HeadNorm<'_, f64>>) {
    let rotation = Rotation::<f64>::new(&inverse_frequencies(&rope(1e4), rotary), 2..2 + TOKENS);
    let rows = values(1, TOKENS * HEADS * layout.stride, 2.0);
    let dy = values(2, TOKENS * HEADS * layout.dim, 1.0);
    let value = |rows: &[f64]| {
        let mut out = vec![0.0; dy.len()];
        rotation.forward(layout, norm, rows, &mut out);
        product(&out, &dy)
    };
    // What lies between heads has no gradient here and must be left alone.
    let mut d_rows = vec![0.0; rows.len()];
    rotation.backward(layout, norm, &rows, &dy, &mut d_rows);
    let off = deviation(&rows, &d_rows, 1, value);
    assert!(off < 1e-8, "{layout:?} rotary {rotary}: {off:e}");
}

#[test]
fn backward_agrees_with_differences() {
    let weight = values(3, 8, 1.5);
    let norm = Some(HeadNorm { weight: &weight, eps: 1e-6 });
    for rotary in [8, 2, 6] {
        for stride in [8, 16] {
            check(HeadRows { dim: 8, stride }, rotary, None);
            check(HeadRows { dim: 8, stride }, rotary, norm);
        }
    }
}

#[test]
fn pairs_are_half_the_rotated_part_apart() {
    let rotation = Rotation::<f32>::new(&inverse_frequencies(&rope(100.0), 4), once(3));
    let (slow, fast) = (0.3f32, 3.0f32);
    let turned = [fast.cos(), -2.0 * slow.sin(), fast.sin(), 2.0 * slow.cos()];
    for rest in [0, 3] {
        let x: Vec<f32> = [1.0, 0.0, 0.0, 2.0].into_iter().chain((0..rest).map(|i| 5.0 + i as f32)).collect();
        let mut y = vec![0.0; x.len()];
        rotation.forward(HeadRows { dim: x.len(), stride: x.len() }, None, &x, &mut y);
        for (y, exact) in y.iter().zip(turned.iter().chain(&x[4..])) {
            assert!((y - exact).abs() < 1e-6);
        }
    }
}

#[test]
fn llama3_scaling_has_three_bands() {
    let scaling = Llama3Scaling { factor: 32.0, low_freq: 1.0, high_freq: 4.0, original_positions: 64.0 };
    let of_turns = |turns: f64| turns * TAU / 64.0;
    assert!((stretch(of_turns(0.5), &scaling) - of_turns(0.5) / 32.0).abs() < 1e-12);
    assert!((stretch(of_turns(5.0), &scaling) - of_turns(5.0)).abs() < 1e-12);
    let between = stretch(of_turns(2.5), &scaling) / of_turns(2.5);
    assert!((between - 0.5 * (1.0 + 1.0 / 32.0)).abs() < 1e-12);
}
