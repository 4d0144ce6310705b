//! The syntax tree: what was written, with the spans it was written at.

use proc_macro2::{Ident, Span};

pub(crate) struct Kernel {
    pub docs: Vec<syn::Attribute>,
    pub visibility: syn::Visibility,
    pub name: Ident,
    pub axes: Vec<Axis>,
    pub operands: Vec<Operand>,
    pub tunables: Vec<Tunable>,
    pub windows: Vec<Window>,
    pub schedule: Option<Vec<Statement>>,
    pub reference: Option<syn::ExprClosure>,
    /// Names whose declaration could not be read: using them is not a second mistake.
    pub unreadable: Vec<Ident>,
    /// Whether every item could be read; rules about what is missing hold only then.
    pub complete: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AxisRole {
    Token,
    Out,
    In,
}

pub(crate) struct Axis {
    pub name: Ident,
    pub role: AxisRole,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperandRole {
    Activation,
    Weight,
    Output,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    F16,
    Q8_0,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperandLayout {
    RowMajor,
    Q8Tiles,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    DdrResident,
    DdrStream,
}

pub(crate) struct Operand {
    pub name: Ident,
    pub role: OperandRole,
    pub element: Element,
    pub layout: OperandLayout,
    pub axes: [Ident; 2],
    pub scope: Scope,
    pub scope_span: Span,
}

pub(crate) enum Candidates {
    List(Vec<u32>),
    Range(u32, u32),
}

pub(crate) struct Tunable {
    pub name: Ident,
    pub candidates: Candidates,
    pub candidates_span: Span,
    pub multiple_of: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowLayout {
    ActivationTiles,
    WeightTiles,
    OutputTiles,
    RowMajor,
    Q8Tiles,
}

impl WindowLayout {
    pub fn keyword(self) -> &'static str {
        match self {
            WindowLayout::ActivationTiles => "activation_tiles",
            WindowLayout::WeightTiles => "weight_tiles",
            WindowLayout::OutputTiles => "output_tiles",
            WindowLayout::RowMajor => "row_major",
            WindowLayout::Q8Tiles => "q8_0_tiles",
        }
    }
}

pub(crate) struct Window {
    pub name: Ident,
    pub layout: WindowLayout,
    pub element: Element,
    pub extents: [Ident; 2],
    pub stages: u32,
    pub stages_span: Span,
}

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

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conversion {
    InterleavePairs,
    ScatterWords,
    Dequantise,
}

pub(crate) enum StepKind {
    Load { to: Ident, from: Block },
    Pack { side: Side, to: Ident, from: Block, scale: bool },
    Convert { conversion: Conversion, to: Ident, from: Ident },
    Multiply { to: Ident, data: Ident, weights: Ident, swap: bool },
    Unpack { side: Side, to: Block, from: Ident, accumulate: bool, unscale: bool, guard: Option<u32> },
}

impl StepKind {
    /// The window the step fills.
    pub fn writes(&self) -> Option<&Ident> {
        match self {
            StepKind::Load { to, .. }
            | StepKind::Pack { to, .. }
            | StepKind::Convert { to, .. }
            | StepKind::Multiply { to, .. } => Some(to),
            StepKind::Unpack { .. } => None,
        }
    }

    /// The windows the step takes.
    pub fn reads(&self) -> Vec<&Ident> {
        match self {
            StepKind::Load { .. } | StepKind::Pack { .. } => Vec::new(),
            StepKind::Convert { from, .. } | StepKind::Unpack { from, .. } => vec![from],
            StepKind::Multiply { data, weights, .. } => vec![data, weights],
        }
    }

    /// The block of an operand the step touches.
    pub fn block(&self) -> Option<&Block> {
        match self {
            StepKind::Load { from, .. } | StepKind::Pack { from, .. } => Some(from),
            StepKind::Unpack { to, .. } => Some(to),
            StepKind::Convert { .. } | StepKind::Multiply { .. } => None,
        }
    }
}
