//! The syntax tree: what was written, with the spans it was written at.

mod declaration;
mod schedule;

use std::rc::Rc;

use proc_macro2::Ident;

use crate::version::Version;
pub(crate) use declaration::*;
pub(crate) use schedule::*;

pub(crate) struct Kernel {
    pub docs: Vec<syn::Attribute>,
    pub visibility: syn::Visibility,
    pub name: Ident,
    pub axes: Vec<Axis>,
    pub operands: Vec<Operand>,
    pub tunables: Vec<Tunable>,
    pub windows: Vec<Window>,
    pub requirements: Vec<Requirement>,
    pub schedule: Option<Vec<Statement>>,
    pub reference: Option<syn::ExprClosure>,
    /// The author's steps that stand before the kernel.
    pub steps: Vec<Rc<HvxStep>>,
    /// Names whose declaration could not be read: using them is not a second mistake.
    pub unreadable: Vec<Ident>,
    /// Names declared in branches this version does not take, and where.
    pub elsewhere: Vec<(Ident, String)>,
    /// Which of the kernels the text stands for this is.
    pub version: Version,
    /// The axis declared `contracted`, in a kernel for two directions.
    pub contracted: Option<Ident>,
    /// Whether every item could be read; rules about what is missing hold only then.
    pub complete: bool,
}

impl Kernel {
    /// A kernel of which nothing but the head has been read.
    pub fn new(
        docs: Vec<syn::Attribute>,
        visibility: syn::Visibility,
        name: Ident,
        definitions: &Definitions,
        version: Version,
    ) -> Kernel {
        Kernel {
            docs,
            visibility,
            name,
            axes: Vec::new(),
            operands: Vec::new(),
            tunables: Vec::new(),
            windows: Vec::new(),
            requirements: Vec::new(),
            schedule: None,
            reference: None,
            steps: definitions.steps.clone(),
            unreadable: definitions.unreadable.clone(),
            elsewhere: Vec::new(),
            version,
            contracted: None,
            complete: true,
        }
    }

    /// The axis in a role.
    pub fn axis_in(&self, role: AxisRole) -> Option<&Ident> {
        self.axes.iter().find(|a| a.role == role).map(|a| &a.name)
    }

    /// Everything it declares by a name.
    pub fn names(&self) -> impl Iterator<Item = &Ident> {
        let axes = self.axes.iter().map(|a| &a.name);
        let operands = self.operands.iter().map(|o| &o.name);
        let tunables = self.tunables.iter().map(|t| &t.name);
        axes.chain(operands).chain(tunables).chain(self.windows.iter().map(|w| &w.name))
    }

    /// Whether the schedule applies this step of the author's.
    pub fn applies(&self, name: &Ident) -> bool {
        fn applies(body: &[Statement], name: &Ident) -> bool {
            body.iter().any(|statement| match statement {
                Statement::Loop(l) => applies(&l.body, name),
                Statement::Step(step) => {
                    matches!(&step.kind, StepKind::Convert { conversion: Conversion::Apply(n), .. } if n == name)
                }
            })
        }
        applies(self.schedule.as_deref().unwrap_or_default(), name)
    }
}

/// What a kernel may use beside what the language comes with: everything defined above it.
pub(crate) struct Definitions {
    pub layouts: Vec<(Ident, TileFormat)>,
    pub steps: Vec<Rc<HvxStep>>,
    /// Names of steps that could not be read: applying them is not a second mistake.
    pub unreadable: Vec<Ident>,
}

impl Definitions {
    /// The formats of packed tiles, the language's own first.
    pub fn formats(&self) -> Vec<TileFormat> {
        TileFormat::known().into_iter().chain(self.layouts.iter().map(|(_, format)| format.clone())).collect()
    }
}
