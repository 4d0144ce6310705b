//! The verifier. [`Verified`] is the proof the planner and the back end demand.
//!
//! Rules that need no shape are proved here, for every shape at once; capacity and DMA fields depend on tile sizes and are
//! checked when a plan is made.

mod coverage;
mod dataflow;
mod declarations;
mod diagnostic;
mod facts;
mod layout;
mod limits;
mod names;
mod pipeline;
mod placed;
mod scale;
mod split;
mod steps;
mod tiles;
mod view;

pub use diagnostic::{Diagnostic, Rule};
pub(crate) use facts::Facts;
pub(crate) use placed::Placed;

use crate::{Defect, ir::Kernel};
use view::View;

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
/// Rules build on one another: a kernel whose indices or loops make no sense is reported for those alone.
///
/// # Errors
/// Every rule the kernel breaks, in source order.
pub fn verify(kernel: &Kernel) -> Result<Verified, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let facts = rules(kernel, &mut found);
    found.sort_by_key(|d| (d.source.line, d.source.column));
    match facts {
        Some(facts) if found.is_empty() => Ok(Verified { kernel: kernel.clone(), facts, defect: None }),
        _ => Err(found),
    }
}

fn rules(kernel: &Kernel, found: &mut Vec<Diagnostic>) -> Option<Facts> {
    limits::check(kernel, found);
    if !found.is_empty() {
        return None;
    }
    names::check(kernel, found);
    tiles::check(kernel, found);
    steps::check(kernel, found);
    let facts = Facts::of(kernel, found)?;
    let view = View::new(kernel, &facts);
    dataflow::check(&view, found);
    pipeline::check(&view, found);
    declarations::check(&view, found);
    layout::check(&view, found);
    scale::check(&view, found);
    split::check(&view, found);
    coverage::check(&view, found);
    Some(facts)
}
