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

/// Runs `loops` with the widest vectors this processor has, as the trainer's nodes do.
#[inline(always)]
pub fn vectorised<R>(loops: impl FnMut() -> R) -> R {
    Arch::new().dispatch(Loops(loops))
}
