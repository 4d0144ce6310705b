//! Operators that only move values: rows into pieces, rows into heads and back.

use std::sync::Arc;

use rayon::prelude::*;
use trainer::nodes::{HeadRows, Rotation};

use super::tape::{Tape, Tensor, Var};

/// Columns of a piece: `heads` runs of `dim`, `stride` apart, the first at `first`.
#[derive(Clone, Copy)]
pub struct Piece {
    /// First column.
    pub first: usize,
    /// Runs.
    pub heads: usize,
    /// Columns of a run.
    pub dim: usize,
    /// Columns from one run to the next.
    pub stride: usize,
}

impl Piece {
    /// `width` columns side by side.
    pub fn dense(first: usize, width: usize) -> Piece {
        Piece { first, heads: 1, dim: width, stride: width }
    }

    fn width(&self) -> usize {
        self.heads * self.dim
    }
}

/// Rows of `width` columns cut into pieces, each a tensor of its own.
pub fn split(tape: &mut Tape, x: &Var, width: usize, pieces: Vec<Piece>) -> Vec<Var> {
    let cut = |piece: &Piece| {
        let mut out = vec![0.0; x.values.len() / width * piece.width()];
        out.par_chunks_mut(piece.width()).zip(x.values.par_chunks(width)).for_each(|(out, row)| {
            for (head, out) in out.chunks_exact_mut(piece.dim).enumerate() {
                out.copy_from_slice(&row[piece.first + head * piece.stride..][..piece.dim]);
            }
        });
        Arc::new(out)
    };
    let outputs = pieces.iter().map(cut).collect();
    let len = x.values.len();
    tape.record_all("split, transpose", &[x], outputs, move |dys| {
        let mut dx = vec![0.0; len];
        let grads: Vec<(Piece, Tensor)> =
            pieces.into_iter().zip(dys).filter_map(|(piece, dy)| Some((piece, dy?))).collect();
        let dys: Vec<(Piece, &[f32])> = grads.iter().map(|(piece, dy)| (*piece, dy.as_slice())).collect();
        dx.par_chunks_mut(width).enumerate().for_each(|(t, row)| {
            for (piece, dy) in &dys {
                for (head, dy) in dy[t * piece.width()..][..piece.width()].chunks_exact(piece.dim).enumerate() {
                    row[piece.first + head * piece.stride..][..piece.dim].copy_from_slice(dy);
                }
            }
        });
        vec![Some(Arc::new(dx))]
    })
}

/// `[T, heads·dim]` into `[heads][T][dim]`.
pub fn to_heads(tape: &mut Tape, x: &Var, tokens: usize, dim: usize) -> Var {
    let y = transpose(&x.values, (tokens, x.values.len() / tokens / dim), dim);
    tape.record("split, transpose", &[x], y, move |dy| {
        vec![Some(transpose(dy, (dy.len() / tokens / dim, tokens), dim))]
    })
}

/// `[heads][T][dim]` into `[T, heads·dim]`.
pub fn to_rows(tape: &mut Tape, x: &Var, tokens: usize, dim: usize) -> Var {
    let y = transpose(&x.values, (x.values.len() / tokens / dim, tokens), dim);
    tape.record("split, transpose", &[x], y, move |dy| {
        vec![Some(transpose(dy, (tokens, dy.len() / tokens / dim), dim))]
    })
}

/// `[outer][inner][dim]` into `[inner][outer][dim]`.
pub fn transpose(x: &[f32], (outer, inner): (usize, usize), dim: usize) -> Tensor {
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(outer * dim).enumerate().for_each(|(i, out)| {
        for (o, out) in out.chunks_exact_mut(dim).enumerate() {
            out.copy_from_slice(&x[(o * inner + i) * dim..][..dim]);
        }
    });
    Arc::new(out)
}

/// Rotates `[T, heads·dim]` rows into `[heads][T][dim]`.
pub fn rope(tape: &mut Tape, x: &Var, rotation: &Arc<Rotation>, dim: usize) -> Var {
    let layout = HeadRows { dim, stride: dim };
    let mut y = vec![0.0; x.values.len()];
    rotation.forward(layout, None, &x.values, &mut y);
    let rotation = rotation.clone();
    tape.record("rope", &[x], Arc::new(y), move |dy| {
        let mut dx = vec![0.0; dy.len()];
        rotation.backward(layout, None, &[], dy, &mut dx);
        vec![Some(Arc::new(dx))]
    })
}
