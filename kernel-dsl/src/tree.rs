//! The syntax tree: what was written, with the spans it was written at.

use std::rc::Rc;

use proc_macro2::{Ident, Span};

use crate::version::Version;

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
    Column,
    Output,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    F16,
    Bf16,
    Packed,
}

/// Packed 32×32 tiles: `kernel_gen::ir::TileFormat`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TileFormat {
    pub name: String,
    pub kind: TileKind,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum TileKind {
    /// An associated constant of `ir::TileFormat`, which `dequantise` knows.
    Known(&'static str),
    /// Declared by `layout`.
    Own { bytes: u32, stride: u32 },
}

impl TileFormat {
    /// The formats the language comes with.
    pub fn known() -> Vec<TileFormat> {
        [("q8_0_tiles", "Q8_0"), ("q4_0_tiles", "Q4_0")]
            .map(|(name, constant)| TileFormat { name: name.into(), kind: TileKind::Known(constant) })
            .into()
    }
}

/// Rows of blocks: the constants of `kernel_gen::ir::BlockFormat`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockFormat {
    Q8_0,
}

impl BlockFormat {
    pub const ALL: [BlockFormat; 1] = [BlockFormat::Q8_0];

    pub const fn keyword(self) -> &'static str {
        match self {
            BlockFormat::Q8_0 => "q8_0_blocks",
        }
    }
}

/// What a step of the author's reads.
pub(crate) enum StepInput {
    Packed(TileFormat, Side),
    Rows(Side),
    F16,
}

/// `step NAME: INPUT -> f16_tiles { … }`
pub(crate) struct HvxStep {
    pub docs: Vec<syn::Attribute>,
    pub name: Ident,
    pub input: StepInput,
    pub body: syn::LitStr,
    pub reference: syn::ExprClosure,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum OperandLayout {
    RowMajor,
    Tiles(TileFormat),
    Blocks(BlockFormat),
    Vector,
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

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum WindowLayout {
    ActivationTiles,
    WeightTiles,
    OutputTiles,
    RowMajor,
    Tiles(TileFormat),
    Blocks(BlockFormat),
}

impl WindowLayout {
    pub fn keyword(&self) -> &str {
        match self {
            WindowLayout::ActivationTiles => "activation_tiles",
            WindowLayout::WeightTiles => "weight_tiles",
            WindowLayout::OutputTiles => "output_tiles",
            WindowLayout::RowMajor => "row_major",
            WindowLayout::Tiles(format) => &format.name,
            WindowLayout::Blocks(format) => format.keyword(),
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

/// `require EXPRESSION;`
pub(crate) struct Requirement {
    pub keyword: Ident,
    pub condition: syn::Expr,
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
