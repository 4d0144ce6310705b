//! What a kernel computes, in f64.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::{AxisId, Kernel, OperandId, OperandRole};

/// The largest finite FP16 number.
const LARGEST_F16: f64 = 65504.0;

/// One output element as a plain f64 expression of the operands.
#[derive(Clone, Copy)]
pub struct Reference(fn(&ReferenceCase<'_>, usize, usize) -> f64);

impl Reference {
    /// Wraps the function that computes output element (i, j).
    pub const fn new(element: fn(&ReferenceCase<'_>, usize, usize) -> f64) -> Self {
        Self(element)
    }

    /// Output element (i, j) of `case`.
    pub fn element(&self, case: &ReferenceCase<'_>, i: usize, j: usize) -> f64 {
        (self.0)(case, i, j)
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reference(fn)")
    }
}

/// The operands of one product as dense row-major f64 matrices.
#[derive(Debug, Clone)]
pub struct ReferenceCase<'a> {
    extents: Vec<usize>,
    operands: Vec<Matrix<'a>>,
    magnitudes: bool,
    names: Arc<Names>,
    /// The axis the case was cut along.
    cut: Option<AxisId>,
}

/// What messages call things.
#[derive(Debug)]
struct Names {
    axes: Vec<String>,
    operands: Vec<String>,
}

#[derive(Debug, Clone)]
struct Matrix<'a> {
    values: &'a [f64],
    axes: [AxisId; 2],
    /// Rows and columns of the part looked at; no rows for an output, which has no values.
    shape: [usize; 2],
    /// Elements from one row to the next.
    cols: usize,
    /// Index of the first element of the part looked at.
    first: usize,
    /// What every element is taken for.
    constant: Option<f64>,
}

/// A case that does not describe the kernel's operands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// Wrong number of extents.
    #[error(
        "kernel `{kernel}` has {expected} axes, {given} extents were given: pass one per axis, in declaration order"
    )]
    Axes {
        /// Kernel.
        kernel: String,
        /// Axes it has.
        expected: usize,
        /// Extents given.
        given: usize,
    },
    /// An operand has the wrong number of elements.
    #[error("operand `{operand}` needs {expected} elements for these extents, {given} were given")]
    Elements {
        /// Operand.
        operand: String,
        /// Rows × columns.
        expected: usize,
        /// Elements given.
        given: usize,
    },
}

impl<'a> ReferenceCase<'a> {
    /// A case of `kernel`: one extent per axis, and one matrix for each operand in declaration order (an output's slice is
    /// not read and may be empty).
    ///
    /// # Errors
    /// The counts do not match the kernel.
    pub fn new(kernel: &Kernel, extents: &[usize], operands: &[&'a [f64]]) -> Result<Self, ReferenceError> {
        if extents.len() != kernel.axes.len() {
            return Err(ReferenceError::Axes {
                kernel: kernel.name.clone(),
                expected: kernel.axes.len(),
                given: extents.len(),
            });
        }
        let mut matrices = Vec::with_capacity(kernel.operands.len());
        for (index, operand) in kernel.operands.iter().enumerate() {
            let [rows, cols] = operand.shape(extents);
            let expected = rows * cols;
            let values = operands.get(index).copied().unwrap_or(&[]);
            let output = operand.role == OperandRole::Output;
            if !output && values.len() != expected {
                return Err(ReferenceError::Elements { operand: operand.name.clone(), expected, given: values.len() });
            }
            let shape = if output { [0, cols] } else { [rows, cols] };
            matrices.push(Matrix { values, axes: operand.axes, shape, cols, first: 0, constant: None });
        }
        let names = Names {
            axes: kernel.axes.iter().map(|axis| axis.name.clone()).collect(),
            operands: kernel.operands.iter().map(|operand| operand.name.clone()).collect(),
        };
        Ok(Self { extents: extents.to_vec(), operands: matrices, magnitudes: false, names: Arc::new(names), cut: None })
    }

    /// The case cut to `range` of one axis: extents, and the rows or columns of every matrix along it. A range beyond the
    /// extent ends there.
    #[must_use]
    pub fn part(&self, axis: AxisId, range: Range<usize>) -> Self {
        let mut part = self.clone();
        let extent = self.extent(axis.0);
        let range = range.start.min(extent)..range.end.min(extent);
        part.extents[axis.0] = range.len();
        part.cut = Some(axis);
        for matrix in &mut part.operands {
            // A vector has its axis twice and lies along the columns.
            if matrix.axes[1] == axis {
                matrix.first += range.start;
                matrix.shape[1] = range.len();
            } else if matrix.axes[0] == axis {
                matrix.first += range.start * matrix.cols;
                if matrix.shape[0] != 0 {
                    matrix.shape[0] = range.len();
                }
            }
        }
        part
    }

    /// The case with |a| for every element a. What is not finite counts as the largest FP16 number: a step may drop it, as a
    /// clamp does, and 0 times infinity would make every bound NaN; a result it reaches is not finite, whatever its bound.
    #[must_use]
    pub fn magnitudes(&self) -> Self {
        Self { magnitudes: true, ..self.clone() }
    }

    /// The case with every element of one operand taken for `value`.
    #[must_use]
    pub fn with_constant(&self, operand: OperandId, value: f64) -> Self {
        let mut case = self.clone();
        if let Some(matrix) = case.operands.get_mut(operand.0) {
            matrix.constant = Some(value);
        }
        case
    }

    /// Extent of an axis.
    ///
    /// # Panics
    /// The kernel has no such axis.
    #[track_caller]
    pub fn extent(&self, axis: usize) -> usize {
        self.extents[axis]
    }

    /// Element (i, j) of an operand.
    ///
    /// # Panics
    /// The operand has no such element: each index is held against its own extent, and the message has operand, axes, indices
    /// and extents, at the line that asked.
    // Most of a cross-check is spent here: the message must not keep it from being inlined.
    #[inline(always)]
    #[track_caller]
    pub fn element(&self, operand: usize, i: usize, j: usize) -> f64 {
        let Matrix { values, shape, cols, first, constant, .. } = &self.operands[operand];
        if i >= shape[0] || j >= shape[1] {
            self.no_element(operand, i, j);
        }
        let value = constant.unwrap_or_else(|| values[first + i * cols + j]);
        match (self.magnitudes, value.is_finite()) {
            (false, _) => value,
            (true, true) => value.abs(),
            (true, false) => LARGEST_F16,
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn no_element(&self, operand: usize, i: usize, j: usize) -> ! {
        let Matrix { axes, shape, .. } = &self.operands[operand];
        let name = &self.names.operands[operand];
        if shape[0] == 0 {
            panic!("operand `{name}` is the output, which a reference computes and cannot read");
        }
        let [rows, cols] = axes.map(|axis| self.names.axes[axis.0].as_str());
        let cut = match self.cut {
            Some(axis) => format!(" in this block of `{}`", self.names.axes[axis.0]),
            None => String::new(),
        };
        if axes[0] == axes[1] {
            panic!("`{name}({j})` is outside operand `{name}[{cols}]`, which has {} elements{cut}", shape[1]);
        }
        panic!(
            "`{name}({i}, {j})` is outside operand `{name}[{rows}, {cols}]`, which is {} × {}{cut}: the first index counts `{rows}`, \
             the second `{cols}`",
            shape[0], shape[1]
        )
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::library;

    fn says(case: &ReferenceCase<'_>, operand: usize, i: usize, j: usize) -> String {
        let panicked = catch_unwind(AssertUnwindSafe(|| case.element(operand, i, j))).expect_err("outside");
        *panicked.downcast::<String>().expect("a text")
    }

    #[test]
    fn every_index_is_held_against_its_own_extent() {
        let kernel = library::forward_f16_column_affine();
        let (x, w, s) = ([1.0; 2 * 5], [2.0; 3 * 5], [3.0; 3]);
        let case = ReferenceCase::new(&kernel, &[2, 3, 5], &[&x, &w, &[], &s, &s]).unwrap();
        assert_eq!(case.element(1, 2, 4), 2.0);
        // Inside the 15 elements, but no element (k, j).
        assert_eq!(
            says(&case, 1, 3, 0),
            "`w(3, 0)` is outside operand `w[n, k]`, which is 3 × 5: the first index counts `n`, the second `k`"
        );
        assert!(says(&case, 1, 0, 5).starts_with("`w(0, 5)` is outside"));
        assert!(says(&case, 2, 0, 0).contains("operand `y` is the output"));
        assert_eq!(says(&case, 3, 0, 3), "`s(3)` is outside operand `s[n]`, which has 3 elements");
        let block = case.part(AxisId(2), 4..9);
        assert_eq!(block.element(1, 2, 0), 2.0);
        assert!(says(&block, 1, 0, 1).contains("which is 3 × 1 in this block of `k`"));
    }
}
