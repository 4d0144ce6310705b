//! A kernel that differs by architecture.

use super::Kernel;
use crate::Arch;

/// What takes the place of a kernel on one architecture.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Where it does.
    pub arch: Arch,
    /// The whole kernel, with the same name and axes, and no variants of its own.
    pub kernel: Kernel,
}

impl Kernel {
    /// The kernel as it is on `arch`: every `when` on an architecture decided.
    pub fn on(&self, arch: Arch) -> &Kernel {
        self.variants.iter().find(|v| v.arch == arch).map_or(self, |v| &v.kernel)
    }

    /// The architectures on which no variant takes its place.
    pub fn archs(&self) -> Vec<Arch> {
        Arch::ALL.into_iter().filter(|arch| self.variants.iter().all(|v| v.arch != *arch)).collect()
    }
}
