//! Operands: the matrices in DDR.

use super::{AxisId, Source};

/// Index into [`super::Kernel::operands`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperandId(pub usize);

/// What one element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// int8 with one FP16 scale per 32 elements along the second axis.
    Q8_0,
}

/// How the elements lie in DDR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandLayout {
    /// Rows of the first axis; base and row stride are multiples of 128 bytes.
    RowMajor,
    /// A grid of 32×32 Q8_0 tiles of 1088 bytes, tiles of one row of the grid contiguous, zero padded.
    Q8Tiles,
}

/// What the operand is to the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandRole {
    /// Token rows coming in: x in forward, dy in the input gradient.
    Activation,
    /// The frozen weight.
    Weight,
    /// Token rows going out: y or dx.
    Output,
}

/// Which memory holds the operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// DDR, mapped once and read-only: weights.
    DdrResident,
    /// DDR, another buffer with every request.
    DdrStream,
}

/// One matrix in DDR.
#[derive(Debug, Clone)]
pub struct Operand {
    /// Name.
    pub name: String,
    /// What it is to the product.
    pub role: OperandRole,
    /// Element type.
    pub element: Element,
    /// Layout.
    pub layout: OperandLayout,
    /// Rows axis, columns axis.
    pub axes: [AxisId; 2],
    /// Memory.
    pub scope: Scope,
    /// Where it is declared.
    pub source: Source,
}
