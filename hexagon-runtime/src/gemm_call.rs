//! The one place that calls the `gemm` crate, whose interface is raw pointers.

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

/// `product = left·right`, added to what is there if `accumulate`; `product` is row-major with `row_stride`.
pub(crate) fn multiply<T: Real>(
    product: &mut [T],
    row_stride: usize,
    accumulate: bool,
    left: Strided<'_, T>,
    right: Strided<'_, T>,
    threads: usize,
) {
    let (m, n, k) = (left.rows, right.columns, left.columns);
    assert_eq!(k, right.rows, "inner extents of a product");
    assert!(row_stride >= n, "rows of a product must not overlap");
    assert!(
        product.len() >= end(m, n, row_stride, 1) && left.data.len() >= left.end() && right.data.len() >= right.end()
    );
    let parallelism = if threads > 1 { Parallelism::Rayon(threads) } else { Parallelism::None };
    // SAFETY: the assertions above bound every access by the slices; `product` is borrowed mutably, so it aliases neither
    // operand; its rows do not overlap because row_stride >= n. T is f32 or f64, both known to the crate.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            product.as_mut_ptr(),
            1,
            row_stride as isize,
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
        multiply(&mut product, 4, true, a, b, 1);
        for r in 0..3 {
            for c in 0..2 {
                let expected: f64 = (0..3).map(|k| left[r * 4 + k] * right[c * 5 + k]).sum();
                assert_eq!(product[r * 4 + c], expected + 1.0);
            }
            assert_eq!(product[r * 4 + 2..r * 4 + 4], [1.0, 1.0]);
        }
    }
}
