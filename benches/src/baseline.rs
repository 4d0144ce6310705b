use gemm::{Parallelism, gemm};
use hexagon_runtime::Direction;

use crate::BenchProduct;

/// The same product by the `gemm` crate in f32 on one thread: what a CPU trainer would do.
pub struct Baseline {
    output: Vec<f32>,
}

impl Baseline {
    /// Computes the product once and checks it against the device's answer.
    pub fn new(product: &BenchProduct, direction: Direction) -> Baseline {
        let mut baseline = Baseline { output: vec![0.0; product.output.len()] };
        baseline.run(product, direction);
        let largest = baseline.output.iter().fold(0f32, |m, x| m.max(x.abs()));
        for (a, b) in baseline.output.iter().zip(&product.output) {
            assert!((a - b).abs() <= 2e-3 * largest, "device {b} and GEMM {a} disagree");
        }
        baseline
    }

    /// One product.
    pub fn run(&mut self, product: &BenchProduct, direction: Direction) {
        let shape = product.shape;
        let (width, contraction, column_stride, row_stride) = match direction {
            // Y[m,n] = Σ_k X[m,k] W[n,k]: the right-hand side is W read by columns.
            Direction::Forward => (shape.out, shape.in_, shape.in_ as isize, 1),
            Direction::InputGrad => (shape.in_, shape.out, 1, shape.in_ as isize),
        };
        assert_eq!(product.input.len(), shape.rows * contraction);
        assert_eq!(product.weights.len(), shape.out * shape.in_);
        // SAFETY: the strides below describe the dense row-major buffers whose lengths were just checked.
        unsafe {
            gemm(
                shape.rows,
                width,
                contraction,
                self.output.as_mut_ptr(),
                1,
                width as isize,
                false,
                product.input.as_ptr(),
                1,
                contraction as isize,
                product.weights.as_ptr(),
                column_stride,
                row_stride,
                0.0,
                1.0,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    }
}
