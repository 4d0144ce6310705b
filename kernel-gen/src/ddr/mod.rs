//! Operands in DDR: from a plain matrix to the bytes a kernel reads, and what those bytes stand for.
//!
//! Tools and tests lay out the operands of a kernel nobody thought of from its declarations alone. A layout of one's own is
//! one more [`DdrLayout`].

mod q8_tiles;
mod row_major;

use crate::ir::{Element, Operand, OperandLayout};

pub use q8_tiles::Q8Tiles;
pub use row_major::{RowMajorBf16, RowMajorF16, RowMajorF32};

/// A matrix as it lies in DDR.
#[derive(Debug, Clone, PartialEq)]
pub struct DdrImage {
    /// All bytes; the base must be placed on a 128-byte boundary.
    pub bytes: Vec<u8>,
    /// Rows, padding included.
    pub rows: u32,
    /// Columns, padding included.
    pub cols: u32,
    /// Bytes from one row, or row of tiles, to the next.
    pub row_stride: u32,
    /// The values the bytes stand for, row-major without padding: what the product is computed with.
    pub effective: Vec<f64>,
}

/// A way matrices lie in DDR.
pub trait DdrLayout {
    /// Whether `operand` lies this way.
    fn holds(&self, operand: &Operand) -> bool;

    /// Lays out `values`, row-major `rows` × `cols`, neither of them 0. Values are finite in the element type.
    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage;
}

/// The layouts a tool knows.
pub struct DdrLayouts(Vec<Box<dyn DdrLayout + Send + Sync>>);

/// An operand in a layout nobody described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "operand `{operand}` is {element:?} in layout {layout:?}, which has no DdrLayout: write one and add it with \
     DdrLayouts::with"
)]
pub struct UnknownLayout {
    /// Operand.
    pub operand: String,
    /// Its element type.
    pub element: Element,
    /// Its layout.
    pub layout: OperandLayout,
}

impl DdrLayouts {
    /// The layouts of the language.
    pub fn standard() -> DdrLayouts {
        DdrLayouts(vec![Box::new(RowMajorF32), Box::new(RowMajorF16), Box::new(RowMajorBf16), Box::new(Q8Tiles)])
    }

    /// One more, asked before those already there.
    #[must_use]
    pub fn with(mut self, layout: impl DdrLayout + Send + Sync + 'static) -> DdrLayouts {
        self.0.insert(0, Box::new(layout));
        self
    }

    /// The layout of `operand`.
    ///
    /// # Errors
    /// [`UnknownLayout`].
    pub fn of(&self, operand: &Operand) -> Result<&dyn DdrLayout, UnknownLayout> {
        match self.0.iter().find(|layout| layout.holds(operand)) {
            Some(layout) => Ok(layout.as_ref()),
            None => {
                Err(UnknownLayout { operand: operand.name.clone(), element: operand.element, layout: operand.layout })
            }
        }
    }
}
