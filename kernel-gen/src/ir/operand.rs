//! Operands: the matrices in DDR.

use super::{AxisId, Source, TileFormat};

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
    /// The upper half of an f32.
    Bf16,
    /// Whatever the tile format packs.
    Packed,
}

impl Element {
    /// Bytes of one element; 0 where only whole tiles have a size.
    pub const fn bytes(self) -> u32 {
        match self {
            Element::F32 => 4,
            Element::F16 | Element::Bf16 => 2,
            Element::Packed => 0,
        }
    }

    /// Its name in the language; a packed tile goes by that of its format.
    pub const fn name(self) -> &'static str {
        match self {
            Element::F32 => "f32",
            Element::F16 => "f16",
            Element::Bf16 => "bf16",
            Element::Packed => "packed",
        }
    }
}

/// How the elements lie in DDR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandLayout {
    /// Rows of the first axis; base and row stride are multiples of 128 bytes.
    RowMajor,
    /// A grid of packed 32×32 tiles, tiles of one row of the grid contiguous, zero padded.
    Tiles(TileFormat),
    /// One element for each index of the second axis (the first is the same axis); base at a multiple of 128 bytes.
    Vector,
}

/// What the operand is to the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandRole {
    /// Token rows coming in: x in forward, dy in the input gradient.
    Activation,
    /// The frozen weight.
    Weight,
    /// A factor or an addend for each column of the output, frozen like the weight.
    Column,
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

impl Operand {
    /// Rows and columns for the extents of the kernel's axes; an axis without an extent counts as 0.
    pub fn shape(&self, extents: &[usize]) -> [usize; 2] {
        let [rows, cols] = self.axes.map(|a| extents.get(a.0).copied().unwrap_or(0));
        if self.layout == OperandLayout::Vector { [1, cols] } else { [rows, cols] }
    }
}
