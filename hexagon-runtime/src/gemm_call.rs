//! The one place that calls the `gemm` crate, whose interface is raw pointers.

use std::marker::PhantomData;
use std::ops::Range;

use gemm::Parallelism;

/// f32 or f64.
pub(crate) trait Real: Copy + PartialEq + Send + Sync + 'static {
    const ZERO: Self;
    const ONE: Self;
}

impl Real for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
}

/// Element (r, c) is `data[r * row_stride + c * column_stride]`.
#[derive(Clone, Copy)]
pub(crate) struct Strided<'a, T> {
    pub data: &'a [T],
    pub rows: usize,
    pub columns: usize,
    pub row_stride: usize,
    pub column_stride: usize,
}

impl<'a, T> Strided<'a, T> {
    /// Row-major.
    pub fn rows(data: &'a [T], rows: usize, columns: usize, row_stride: usize) -> Self {
        Strided { data, rows, columns, row_stride, column_stride: 1 }
    }

    pub fn transposed(self) -> Self {
        Strided {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    fn end(&self) -> usize {
        end(self.rows, self.columns, self.row_stride, self.column_stride)
    }
}

/// One past the last element of a strided matrix.
fn end(rows: usize, columns: usize, row_stride: usize, column_stride: usize) -> usize {
    if rows == 0 || columns == 0 { 0 } else { (rows - 1) * row_stride + (columns - 1) * column_stride + 1 }
}

/// A row-major matrix to write, or a range of its columns: blocks of columns of one matrix can be written at once.
pub(crate) struct Columns<'a, T> {
    start: *mut T,
    rows: usize,
    columns: usize,
    row_stride: usize,
    borrowed: PhantomData<&'a mut [T]>,
}

// SAFETY: `Columns` is the only way to the elements it stands for: `new` borrows them mutably and `blocks` gives every
// block columns of its own.
unsafe impl<T: Send> Send for Columns<'_, T> {}

impl<'a, T: Real> Columns<'a, T> {
    /// The first `columns` elements of rows that start `row_stride` apart.
    pub fn new(data: &'a mut [T], rows: usize, columns: usize, row_stride: usize) -> Self {
        assert!(row_stride >= columns, "rows of a product must not overlap");
        assert!(data.len() >= end(rows, columns, row_stride, 1), "a product must fit its slice");
        Columns { start: data.as_mut_ptr(), rows, columns, row_stride, borrowed: PhantomData }
    }

    /// Cut into blocks of `width` columns, the last of what is left.
    pub fn blocks(self, width: usize) -> Vec<(Range<usize>, Columns<'a, T>)> {
        let block = |first: usize| {
            let last = (first + width).min(self.columns);
            // SAFETY: `first` is less than `columns`, which `new` has checked against the slice.
            let start = unsafe { self.start.add(first) };
            (first..last, Columns { start, columns: last - first, ..self })
        };
        (0..self.columns).step_by(width).map(block).collect()
    }
}

/// `product = left·right`, added to what is there if `accumulate`.
pub(crate) fn multiply<T: Real>(
    product: &mut Columns<'_, T>,
    accumulate: bool,
    left: Strided<'_, T>,
    right: Strided<'_, T>,
    threads: usize,
) {
    let (m, n, k) = (left.rows, right.columns, left.columns);
    assert_eq!(k, right.rows, "inner extents of a product");
    assert_eq!((m, n), (product.rows, product.columns), "extents of a product");
    assert!(left.data.len() >= left.end() && right.data.len() >= right.end());
    let parallelism = if threads > 1 { Parallelism::Rayon(threads) } else { Parallelism::None };
    // SAFETY: `Columns::new` and the assertions above bound every access by the slices; `product` is exclusive, so it
    // aliases neither operand; its rows do not overlap. T is f32 or f64, both known to the crate.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            product.start,
            1,
            product.row_stride as isize,
            accumulate,
            left.data.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.data.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            if accumulate { T::ONE } else { T::ZERO },
            T::ONE,
            false,
            false,
            false,
            parallelism,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplies_strided_and_transposed_operands() {
        let left: Vec<f64> = (0..12).map(f64::from).collect();
        let right: Vec<f64> = (0..10).map(|x| f64::from(x) - 4.0).collect();
        // left: 3 x 4 read as 3 x 3 with stride 4; right: 2 x 5 read as (2 x 3)ᵀ.
        let a = Strided::rows(&left, 3, 3, 4);
        let b = Strided::rows(&right, 2, 3, 5).transposed();
        let mut product = vec![1.0; 3 * 4];
        multiply(&mut Columns::new(&mut product, 3, 2, 4), true, a, b, 1);
        for r in 0..3 {
            for c in 0..2 {
                let expected: f64 = (0..3).map(|k| left[r * 4 + k] * right[c * 5 + k]).sum();
                assert_eq!(product[r * 4 + c], expected + 1.0);
            }
            assert_eq!(product[r * 4 + 2..r * 4 + 4], [1.0, 1.0]);
        }
    }
}
