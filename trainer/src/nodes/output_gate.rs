//! Output gate of attention: y = a · σ(g), elementwise. A head's gate lies behind its query in the row of `q_proj`:
//! [query of head 0, gate of head 0, query of head 1, …].

use super::real::Real;
use rayon::prelude::*;

/// `out = attended · σ(gate)`: `attended` and `out` are `[T, heads·dim]`, `rows` is `[T, heads·2·dim]`.
pub fn output_gate<T: Real>(dim: usize, attended: &[T], rows: &[T], out: &mut [T]) {
    let heads = out.par_chunks_mut(dim).zip(attended.par_chunks(dim)).zip(rows.par_chunks(2 * dim));
    heads.for_each(|((out, attended), row)| {
        for ((out, a), g) in out.iter_mut().zip(attended).zip(&row[dim..]) {
            *out = *a * g.sigmoid();
        }
    });
}

/// Backward, with s = σ(g): `dy` becomes da = dy·s, and dg = dy·a·s·(1 − s) is written to the gates of `d_rows`, whose
/// queries stay.
pub fn output_gate_backward<T: Real>(dim: usize, attended: &[T], rows: &[T], dy: &mut [T], d_rows: &mut [T]) {
    let heads = dy.par_chunks_mut(dim).zip(d_rows.par_chunks_mut(2 * dim));
    heads.zip(attended.par_chunks(dim)).zip(rows.par_chunks(2 * dim)).for_each(|(((dy, d_row), attended), row)| {
        for (((dy, dg), a), g) in dy.iter_mut().zip(&mut d_row[dim..]).zip(attended).zip(&row[dim..]) {
            let s = g.sigmoid();
            *dg = *dy * *a * s * (T::ONE - s);
            *dy *= s;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::difference::{deviation, product, values};

    #[test]
    fn backward_agrees_with_differences() {
        let (dim, pieces) = (4, 6);
        let (attended, rows) = (values(1, pieces * dim, 2.0), values(2, 2 * pieces * dim, 4.0));
        let dy = values(3, pieces * dim, 1.0);
        let value = |attended: &[f64], rows: &[f64]| {
            let mut out = vec![0.0; dy.len()];
            output_gate(dim, attended, rows, &mut out);
            product(&out, &dy)
        };
        let (mut d_attended, mut d_rows) = (dy.clone(), vec![0.0; rows.len()]);
        output_gate_backward(dim, &attended, &rows, &mut d_attended, &mut d_rows);
        assert!(deviation(&attended, &d_attended, 1, |moved| value(moved, &rows)) < 1e-8);
        assert!(deviation(&rows, &d_rows, 1, |moved| value(&attended, moved)) < 1e-8);
    }
}
