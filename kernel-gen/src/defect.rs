//! Defects put into emitted C on purpose.
//!
//! A check that cannot fail proves nothing. Tests emit a kernel with one of these and show that the start-up check, the
//! checked functional model or the comparison with the reference refuses it.

use crate::ir::{AxisId, WindowId};

/// One wrong thing in otherwise right C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// The loop over this axis stops one tile (32) early.
    ShortLoop(AxisId),
    /// Steps that read this window step from tile to tile by one 128-byte vector too much.
    WideStride(WindowId),
    /// A multiply leaves out the last tile of its contraction.
    DroppedTile,
    /// Every partial sum is stored, so that a later block overwrites an earlier one.
    StoredPartial,
}
