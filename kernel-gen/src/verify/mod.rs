//! The verifier. [`Verified`] is the proof the planner and the back end demand.

mod diagnostic;
mod facts;
mod placed;

pub use diagnostic::{Diagnostic, Rule};
pub(crate) use facts::Facts;
pub(crate) use placed::Placed;

use crate::{Defect, ir::Kernel};

/// A kernel that passed every rule that needs no shape, with what the rules found out about it.
#[derive(Debug, Clone)]
pub struct Verified {
    kernel: Kernel,
    facts: Facts,
    defect: Option<Defect>,
}

impl Verified {
    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The same kernel, emitted with a defect: for tests that show a check refuses it.
    pub fn with_defect(mut self, defect: Defect) -> Self {
        self.defect = Some(defect);
        self
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(crate) fn defect(&self) -> Option<Defect> {
        self.defect
    }
}

/// Checks a kernel.
///
/// # Errors
/// Every rule the kernel breaks, in source order.
pub fn verify(kernel: &Kernel) -> Result<Verified, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let facts = Facts::of(kernel, &mut found);
    match facts {
        Some(facts) if found.is_empty() => Ok(Verified {
            kernel: kernel.clone(),
            facts,
            defect: None,
        }),
        _ => Err(found),
    }
}
