//! The axes of a product.

use super::Source;

/// Index into [`super::Kernel::axes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AxisId(pub usize);

/// What an axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisRole {
    /// Token rows. A request computes a range of them, and each carries its own power-of-two scale.
    Token,
    /// Output features of the projection (rows of W).
    Out,
    /// Input features of the projection (columns of W).
    In,
}

/// One axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Name.
    pub name: String,
    /// What it counts.
    pub role: AxisRole,
    /// Where it is declared.
    pub source: Source,
}
