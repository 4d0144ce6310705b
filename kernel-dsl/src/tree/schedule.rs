//! Loops and steps.

use proc_macro2::Ident;

pub(crate) enum Statement {
    Loop(Loop),
    Step(Step),
}

pub(crate) struct Loop {
    pub variable: Ident,
    pub axis: Ident,
    pub tile: Ident,
    pub pipeline: Vec<Ident>,
    pub body: Vec<Statement>,
}

pub(crate) struct Step {
    pub keyword: Ident,
    pub kind: StepKind,
    /// The axis whose strips are dealt out to the HVX workers.
    pub split: Option<Ident>,
}

/// A block of an operand: `x[mo, ko]`.
pub(crate) struct Block {
    pub operand: Ident,
    pub variables: [Ident; 2],
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Rows,
    Cols,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Conversion {
    InterleavePairs,
    ScatterWords,
    Dequantise,
    /// A step of the author's.
    Apply(Ident),
}

pub(crate) enum StepKind {
    Load { to: Ident, from: Block },
    Pack { side: Side, to: Ident, from: Block, scale: bool },
    Convert { conversion: Conversion, to: Ident, from: Ident },
    Multiply { to: Ident, data: Ident, weights: Ident, swap: bool },
    Unpack(Unpack),
}

pub(crate) struct Unpack {
    pub side: Side,
    pub to: Block,
    pub from: Ident,
    pub unscale: bool,
    pub column_scale: Option<Ident>,
    pub column_bias: Option<Ident>,
    pub guard: Option<u32>,
}

impl Unpack {
    /// The vectors over the columns of the output.
    pub fn vectors(&self) -> impl Iterator<Item = &Ident> {
        self.column_scale.iter().chain(&self.column_bias)
    }
}

impl StepKind {
    /// The window the step fills.
    pub fn writes(&self) -> Option<&Ident> {
        match self {
            StepKind::Load { to, .. }
            | StepKind::Pack { to, .. }
            | StepKind::Convert { to, .. }
            | StepKind::Multiply { to, .. } => Some(to),
            StepKind::Unpack(_) => None,
        }
    }

    /// The windows the step takes.
    pub fn reads(&self) -> Vec<&Ident> {
        match self {
            StepKind::Load { .. } | StepKind::Pack { .. } => Vec::new(),
            StepKind::Convert { from, .. } | StepKind::Unpack(Unpack { from, .. }) => vec![from],
            StepKind::Multiply { data, weights, .. } => vec![data, weights],
        }
    }

    /// The block of an operand the step touches.
    pub fn block(&self) -> Option<&Block> {
        match self {
            StepKind::Load { from, .. } | StepKind::Pack { from, .. } => Some(from),
            StepKind::Unpack(Unpack { to, .. }) => Some(to),
            StepKind::Convert { .. } | StepKind::Multiply { .. } => None,
        }
    }

    /// The operands the step takes beside its block.
    pub fn vectors(&self) -> Vec<&Ident> {
        match self {
            StepKind::Unpack(unpack) => unpack.vectors().collect(),
            _ => Vec::new(),
        }
    }
}
