//! The node written token by token, as the architecture is defined: the reference of the chunked form.

use super::super::{DeltaInput, DeltaShape, DeltaWeights};
use std::ops::Range;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Output `[T, values]` of all sequences.
pub fn forward(
    shape: DeltaShape,
    weights: &DeltaWeights<f64>,
    input: DeltaInput<'_, f64>,
    spans: &[Range<usize>],
) -> Vec<f64> {
    let mut out = vec![0.0; input.z.len()];
    for span in spans {
        for head in 0..shape.value_heads {
            value_head(shape, weights, input, span.clone(), head, &mut out);
        }
    }
    out
}

fn value_head(
    shape: DeltaShape,
    weights: &DeltaWeights<f64>,
    input: DeltaInput<'_, f64>,
    span: Range<usize>,
    head: usize,
    out: &mut [f64],
) {
    let (dk, dv, channels) = (shape.key_dim, shape.value_dim, shape.channels());
    let key_head = head / (shape.value_heads / shape.key_heads);
    let keys = shape.key_heads * dk;
    // Convolution and SiLU of one channel.
    let mixed = |t: usize, channel: usize| {
        let tap = |j: usize| {
            let row = (t + j).checked_sub(shape.kernel - 1).filter(|row| *row >= span.start);
            row.map_or(0.0, |row| weights.conv[j * channels + channel] * input.u[row * channels + channel])
        };
        let p: f64 = (0..shape.kernel).map(tap).sum();
        p * sigmoid(p)
    };
    let unit = |x: Vec<f64>| {
        let n = 1.0 / (x.iter().map(|x| x * x).sum::<f64>() + 1e-6).sqrt();
        x.into_iter().map(|x| x * n).collect::<Vec<f64>>()
    };
    let mut state = vec![0.0; dk * dv];
    for t in span.clone() {
        let q = unit((0..dk).map(|i| mixed(t, key_head * dk + i)).collect());
        let k = unit((0..dk).map(|i| mixed(t, keys + key_head * dk + i)).collect());
        let v: Vec<f64> = (0..dv).map(|i| mixed(t, 2 * keys + head * dv + i)).collect();
        let beta = sigmoid(input.b[t * shape.value_heads + head]);
        let a = input.a[t * shape.value_heads + head] + weights.dt_bias[head];
        let decay = (-weights.rate[head] * a.exp().ln_1p()).exp();
        state.iter_mut().for_each(|s| *s *= decay);
        for j in 0..dv {
            let read: f64 = (0..dk).map(|i| state[i * dv + j] * k[i]).sum();
            let d = beta * (v[j] - read);
            (0..dk).for_each(|i| state[i * dv + j] += k[i] * d);
        }
        let o: Vec<f64> =
            (0..dv).map(|j| (0..dk).map(|i| state[i * dv + j] * q[i]).sum::<f64>() / (dk as f64).sqrt()).collect();
        let r = 1.0 / (o.iter().map(|o| o * o).sum::<f64>() / dv as f64 + weights.norm_eps).sqrt();
        for (j, o) in o.iter().enumerate() {
            let at = t * shape.values() + head * dv + j;
            let z = input.z[at];
            out[at] = weights.norm[j] * o * r * z * sigmoid(z);
        }
    }
}
