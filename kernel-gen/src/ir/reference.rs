//! What a kernel computes, in f64.

use std::fmt;
use std::ops::Range;

use super::{AxisId, Kernel, OperandId};

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
}

#[derive(Debug, Clone)]
struct Matrix<'a> {
    values: &'a [f64],
    axes: [AxisId; 2],
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
            if operand.role != super::OperandRole::Output && values.len() != expected {
                return Err(ReferenceError::Elements { operand: operand.name.clone(), expected, given: values.len() });
            }
            matrices.push(Matrix { values, axes: operand.axes, cols, first: 0, constant: None });
        }
        Ok(Self { extents: extents.to_vec(), operands: matrices, magnitudes: false })
    }

    /// The case cut to `range` of one axis: extents, and the rows or columns of every matrix along it. A range beyond the
    /// extent ends there.
    #[must_use]
    pub fn part(&self, axis: AxisId, range: Range<usize>) -> Self {
        let mut part = self.clone();
        let extent = self.extent(axis.0);
        let range = range.start.min(extent)..range.end.min(extent);
        part.extents[axis.0] = range.len();
        for matrix in &mut part.operands {
            // A vector has its axis twice and lies along the columns.
            if matrix.axes[1] == axis {
                matrix.first += range.start;
            } else if matrix.axes[0] == axis {
                matrix.first += range.start * matrix.cols;
            }
        }
        part
    }

    /// The case with |a| for every element a.
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
    pub fn extent(&self, axis: usize) -> usize {
        self.extents[axis]
    }

    /// Element (i, j) of an operand.
    pub fn element(&self, operand: usize, i: usize, j: usize) -> f64 {
        let Matrix { values, cols, first, constant, .. } = &self.operands[operand];
        let value = constant.unwrap_or_else(|| values[first + i * cols + j]);
        if self.magnitudes { value.abs() } else { value }
    }
}
