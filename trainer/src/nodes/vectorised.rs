//! Loops compiled once for every vector length of the processor family and chosen when they run.

use pulp::{Arch, NullaryFnOnce};

/// A closure that is called by reference: what calls one by value is a function of its own, which the compiler need not
/// take into the code it makes for the processor's vectors.
struct Loops<F>(F);

impl<R, F: FnMut() -> R> NullaryFnOnce for Loops<F> {
    type Output = R;

    #[inline(always)]
    fn call(mut self) -> R {
        (self.0)()
    }
}

/// Runs `loops`, which the compiler may turn into the widest vectors this processor has; functions that it calls take part
/// if they are inlined. Rust never fuses a multiplication with an addition, so the bits are the same on every processor.
#[inline(always)]
pub fn vectorised<R>(loops: impl FnMut() -> R) -> R {
    Arch::new().dispatch(Loops(loops))
}
