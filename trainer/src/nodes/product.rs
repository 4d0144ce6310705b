//! Dense products on the CPU through the `gemm` crate: the one place of the trainer with `unsafe`.

use super::real::Real;
use gemm::Parallelism;

/// Threads a product may use. The same number gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// The calling thread (inside a parallel loop).
    One,
    /// The current thread pool, if the product is large enough to gain.
    All,
}

/// Multiplications below which one thread is faster, above all while others serve the NPU's model.
const WORTH_THREADS: usize = 1 << 25;

/// A read-only matrix view.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T = f32> {
    data: &'a [T],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a, T: Real> Matrix<'a, T> {
    /// Dense rows.
    pub fn new(data: &'a [T], rows: usize, cols: usize) -> Self {
        Matrix::strided(data, rows, cols, cols)
    }

    /// Rows that start `row_stride` elements apart.
    pub fn strided(data: &'a [T], rows: usize, cols: usize, row_stride: usize) -> Self {
        Matrix { data, rows, cols, row_stride, col_stride: 1 }
    }

    /// The same elements with rows and columns exchanged.
    pub fn transposed(self) -> Self {
        Matrix { rows: self.cols, cols: self.rows, row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    fn reach(&self) -> usize {
        reach(self.rows, self.cols, self.row_stride, self.col_stride)
    }
}

/// A writable matrix view with contiguous rows' elements.
pub struct MatrixMut<'a, T = f32> {
    data: &'a mut [T],
    rows: usize,
    cols: usize,
    row_stride: usize,
}

impl<'a, T: Real> MatrixMut<'a, T> {
    /// Dense rows.
    pub fn new(data: &'a mut [T], rows: usize, cols: usize) -> Self {
        MatrixMut::strided(data, rows, cols, cols)
    }

    /// Rows that start `row_stride` elements apart.
    pub fn strided(data: &'a mut [T], rows: usize, cols: usize, row_stride: usize) -> Self {
        MatrixMut { data, rows, cols, row_stride }
    }
}

/// One past the largest element a view can touch.
fn reach(rows: usize, cols: usize, row_stride: usize, col_stride: usize) -> usize {
    if rows == 0 || cols == 0 { 0 } else { (rows - 1) * row_stride + (cols - 1) * col_stride + 1 }
}

/// `dst = factor · a·b`, or `dst += factor · a·b` if `add`. Panics when shapes do not fit, which no
/// input of a user can cause.
pub fn multiply<T: Real>(
    dst: MatrixMut<'_, T>,
    add: bool,
    factor: T,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    threads: Threads,
) {
    assert!(dst.rows == a.rows && dst.cols == b.cols && a.cols == b.rows, "product shapes do not fit");
    assert!(dst.cols <= dst.row_stride || dst.rows <= 1, "rows of the product overlap");
    let dst_reach = reach(dst.rows, dst.cols, dst.row_stride, 1);
    assert!(dst_reach <= dst.data.len() && a.reach() <= a.data.len() && b.reach() <= b.data.len());
    let work = dst.rows * dst.cols * a.cols;
    let parallelism = match threads {
        Threads::All if work >= WORTH_THREADS => Parallelism::Rayon(0),
        _ => Parallelism::None,
    };
    // SAFETY: the assertions above keep every element the three views address inside their slices;
    // `dst` is borrowed exclusively and its rows do not overlap.
    unsafe {
        gemm::gemm(
            dst.rows,
            dst.cols,
            a.cols,
            dst.data.as_mut_ptr(),
            1,
            dst.row_stride as isize,
            add,
            a.data.as_ptr(),
            a.col_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.col_stride as isize,
            b.row_stride as isize,
            T::ONE,
            factor,
            false,
            false,
            false,
            parallelism,
        );
    }
}
