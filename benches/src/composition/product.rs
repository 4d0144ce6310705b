//! Products: with a trainable matrix, with a frozen one, with the vocabulary, and of heads with heads.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use hexagon_runtime::{Direction, ProjectionId, Runtime};
use rayon::prelude::*;
use trainer::nodes::{Matrix, MatrixMut, Threads, multiply};

use super::tape::{Tape, Tensor, Var};

fn product(a: Matrix<'_>, b: Matrix<'_>, rows: usize, cols: usize) -> Tensor {
    let mut y = vec![0.0; rows * cols];
    multiply(MatrixMut::new(&mut y, rows, cols), false, 1.0, a, b, Threads::All);
    Arc::new(y)
}

/// x·Wᵀ with a trainable W of `[out, in]`.
pub fn linear(tape: &mut Tape, x: &Var, w: &Var, (out, in_): (usize, usize)) -> Var {
    let rows = x.values.len() / in_;
    let (x_kept, w_kept) = (x.values.clone(), w.values.clone());
    let y = product(Matrix::new(&x_kept, rows, in_), Matrix::new(&w_kept, out, in_).transposed(), rows, out);
    let wanted = x.wanted();
    tape.record("LoRA product", &[x, w], y, move |dy| {
        let dy = Matrix::new(dy, rows, out);
        let dx = wanted.then(|| product(dy, Matrix::new(&w_kept, out, in_), rows, in_));
        vec![dx, Some(product(dy.transposed(), Matrix::new(&x_kept, rows, in_), out, in_))]
    })
}

/// A frozen projection in the runtime that the trainer's own step uses too.
#[derive(Clone)]
pub struct Frozen {
    /// The runtime.
    pub runtime: Rc<RefCell<Runtime>>,
    /// Its name there.
    pub id: ProjectionId,
    /// (out, in).
    pub shape: (usize, usize),
}

impl Frozen {
    fn run(&self, direction: Direction, input: &[f32], (from, to): (usize, usize)) -> Tensor {
        let rows = input.len() / from;
        let mut y = vec![0.0; rows * to];
        let mut runtime = self.runtime.borrow_mut();
        runtime.run(self.id, direction, input, rows, &mut y).expect("a finite input of the projection's width");
        Arc::new(y)
    }

    /// x·Wᵀ.
    pub fn apply(&self, tape: &mut Tape, x: &Var) -> Var {
        let (out, in_) = self.shape;
        let y = self.run(Direction::Forward, &x.values, (in_, out));
        let frozen = self.clone();
        tape.record("frozen product", &[x], y, move |dy| vec![Some(frozen.run(Direction::InputGrad, dy, (out, in_)))])
    }
}

/// Logits of every row: x·tableᵀ.
pub fn head(tape: &mut Tape, x: &Var, table: &Tensor, (vocab, width): (usize, usize)) -> Var {
    let rows = x.values.len() / width;
    let y = product(Matrix::new(&x.values, rows, width), Matrix::new(table, vocab, width).transposed(), rows, vocab);
    let table = table.clone();
    tape.record("head product", &[x], y, move |dy| {
        vec![Some(product(Matrix::new(dy, rows, vocab), Matrix::new(&table, vocab, width), rows, width))]
    })
}

/// Extents of a product of heads: `[heads][rows][inner]` with one of `groups` matrices of the other side.
#[derive(Clone, Copy)]
pub struct HeadProduct {
    /// Heads of the left side and the result.
    pub heads: usize,
    /// Heads of the right side; each serves heads / groups of the left.
    pub groups: usize,
    /// Rows of a left head.
    pub rows: usize,
    /// Terms of a sum.
    pub inner: usize,
    /// Columns of a result.
    pub cols: usize,
    /// Whether a right head is kept as `[cols][inner]`.
    pub transposed: bool,
}

impl HeadProduct {
    fn right<'a>(&self, b: &'a [f32], head: usize) -> Matrix<'a> {
        let len = self.inner * self.cols;
        let b = &b[head / (self.heads / self.groups) * len..][..len];
        match self.transposed {
            true => Matrix::new(b, self.cols, self.inner).transposed(),
            false => Matrix::new(b, self.inner, self.cols),
        }
    }

    /// a·b, head by head.
    pub fn apply(self, tape: &mut Tape, a: &Var, b: &Var) -> Var {
        let HeadProduct { heads, groups, rows, inner, cols, .. } = self;
        let (left, result) = (rows * inner, rows * cols);
        let mut y = vec![0.0; heads * result];
        y.par_chunks_mut(result).enumerate().for_each(|(head, y)| {
            let a = Matrix::new(&a.values[head * left..][..left], rows, inner);
            multiply(MatrixMut::new(y, rows, cols), false, 1.0, a, self.right(&b.values, head), Threads::One);
        });
        let (a_kept, b_kept) = (a.values.clone(), b.values.clone());
        tape.record("attention product", &[a, b], Arc::new(y), move |dy| {
            let mut da = vec![0.0; a_kept.len()];
            da.par_chunks_mut(left).enumerate().for_each(|(head, da)| {
                let dy = Matrix::new(&dy[head * result..][..result], rows, cols);
                let b = self.right(&b_kept, head).transposed();
                multiply(MatrixMut::new(da, rows, inner), false, 1.0, dy, b, Threads::One);
            });
            let mut db = vec![0.0; b_kept.len()];
            db.par_chunks_mut(inner * cols).enumerate().for_each(|(group, db)| {
                for member in 0..heads / groups {
                    let head = group * (heads / groups) + member;
                    let dy = Matrix::new(&dy[head * result..][..result], rows, cols);
                    let a = Matrix::new(&a_kept[head * left..][..left], rows, inner);
                    if self.transposed {
                        let db = MatrixMut::new(db, cols, inner);
                        multiply(db, member > 0, 1.0, dy.transposed(), a, Threads::One);
                    } else {
                        let db = MatrixMut::new(db, inner, cols);
                        multiply(db, member > 0, 1.0, a.transposed(), dy, Threads::One);
                    }
                }
            });
            vec![Some(Arc::new(da)), Some(Arc::new(db))]
        })
    }
}
