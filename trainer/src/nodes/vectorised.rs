//! Loops compiled once for every vector length of the processor family and chosen when they run.

use pulp::Arch;

/// Runs `loops`, which the compiler may turn into the widest vectors this processor has; functions that it calls take part
/// if they are inlined. Rust never fuses a multiplication with an addition, so the bits are the same on every processor.
#[inline(always)]
pub(super) fn vectorised<R>(loops: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(loops)
}
