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
mod requirements;
mod scale;
mod split;
mod steps;
mod tiles;
mod variants;
mod view;

pub use diagnostic::{Diagnostic, Rule};
pub(crate) use facts::Facts;
pub(crate) use placed::Placed;

use crate::{Arch, Defect, ir::Kernel, rules::c_name::ON_ARCH};
use view::View;

/// A kernel that passed every rule that needs no shape, with what the rules found out about it.
#[derive(Debug, Clone)]
pub struct Verified {
    kernel: Kernel,
    facts: Facts,
    variants: Vec<(Arch, Verified)>,
    defect: Option<Defect>,
}

impl Verified {
    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The kernel as it is on `arch`: itself, unless a `when` makes it another there.
    pub fn on(&self, arch: Arch) -> &Verified {
        self.variants.iter().find(|(a, _)| *a == arch).map_or(self, |(_, variant)| variant)
    }

    /// The same kernel, emitted with a defect: for tests that show a check refuses it.
    pub fn with_defect(mut self, defect: Defect) -> Self {
        self.defect = Some(defect);
        self.variants = self.variants.into_iter().map(|(arch, v)| (arch, v.with_defect(defect))).collect();
        self
    }

    /// The kernel for every architecture, called `NAME_on_v79` and so on; empty if it is the same for all.
    pub(crate) fn by_arch(&self) -> Vec<(Arch, Verified)> {
        if self.variants.is_empty() {
            return Vec::new();
        }
        let named = |arch: Arch| {
            let mut one = self.on(arch).clone();
            one.kernel.name.push_str(&format!("{}{}", ON_ARCH, arch.number()));
            (arch, one)
        };
        Arch::ALL.map(named).into()
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(crate) fn defect(&self) -> Option<Defect> {
        self.defect
    }
}

/// Checks a kernel, on every architecture on which it differs.
///
/// Rules build on one another: a kernel whose indices or loops make no sense is reported for those alone.
///
/// # Errors
/// Every rule the kernel breaks, in source order. What is broken on one architecture only says so.
pub fn verify(kernel: &Kernel) -> Result<Verified, Vec<Diagnostic>> {
    let mut found = Vec::new();
    variants::check(kernel, &mut found);
    let facts = rules(kernel, &mut found);
    if kernel.variants.is_empty() {
        return proof(kernel, facts, Vec::new(), found);
    }
    let others = kernel.variants.iter().map(|v| {
        let mut own = Vec::new();
        let facts = rules(&v.kernel, &mut own);
        (v, facts, own)
    });
    let others: Vec<_> = others.collect();
    let found = variants::merge(kernel, found, others.iter().map(|(v, _, own)| (v.arch, own.as_slice())));
    let mut proofs = Vec::new();
    for (variant, facts, _) in others {
        proofs.extend(facts.map(|facts| {
            let kernel = variant.kernel.clone();
            (variant.arch, Verified { kernel, facts, variants: Vec::new(), defect: None })
        }));
    }
    proof(kernel, facts, proofs, found)
}

fn proof(
    kernel: &Kernel,
    facts: Option<Facts>,
    variants: Vec<(Arch, Verified)>,
    mut found: Vec<Diagnostic>,
) -> Result<Verified, Vec<Diagnostic>> {
    requirements::satisfiable(kernel, &mut found);
    found.sort_by_key(|d| (d.source.line, d.source.column));
    match facts {
        Some(facts) if found.is_empty() => Ok(Verified { kernel: kernel.clone(), facts, variants, defect: None }),
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
    requirements::check(kernel, found);
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
