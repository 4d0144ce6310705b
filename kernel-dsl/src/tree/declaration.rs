//! What a kernel and the definitions above it declare.

use proc_macro2::{Ident, Span};

use super::Side;

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
