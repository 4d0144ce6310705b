//! The schedule: loops over tiles, and the steps inside them.

use super::{AxisId, HvxStepId, OperandId, Source, TunableId, WindowId};

/// A loop or a step.
#[derive(Debug, Clone)]
pub enum Statement {
    /// `for … in tiles(axis, tile) { … }`.
    Loop(Loop),
    /// One step.
    Step(Step),
}

/// A loop over the tiles of one axis; the last tile may be short.
#[derive(Debug, Clone)]
pub struct Loop {
    /// Name of the block it walks, for messages.
    pub name: String,
    /// Axis.
    pub axis: AxisId,
    /// Tile size.
    pub tile: TunableId,
    /// Windows whose loads run `stages - 1` blocks ahead.
    pub pipeline: Vec<WindowId>,
    /// What is done for each block.
    pub body: Vec<Statement>,
    /// Where it is written.
    pub source: Source,
}

/// One step of the schedule.
#[derive(Debug, Clone)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// HVX steps: the axis whose strips of 32 rows are dealt out to the HVX workers.
    pub split: Option<AxisId>,
    /// Where it is written.
    pub source: Source,
}

/// What an unpack does to every column of the output, in f32 after the row's 2^-e: times the scale, plus the bias. A sum
/// over blocks of the contraction starts from the bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColumnFactors {
    /// Vector over the columns of the output.
    pub scale: Option<OperandId>,
    /// Vector over the columns of the output.
    pub bias: Option<OperandId>,
}

/// What a step does. `block` names the axes whose current blocks select the part of the operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepKind {
    /// DMA of a block of an operand into a window.
    Load {
        /// Destination.
        window: WindowId,
        /// Source.
        operand: OperandId,
        /// Block of the source.
        block: [AxisId; 2],
    },
    /// HVX: f32 rows, scaled, to FP16 tiles whose p index is the row.
    PackRows {
        /// Destination.
        window: WindowId,
        /// Source.
        operand: OperandId,
        /// Block of the source.
        block: [AxisId; 2],
        /// Multiply every row by its own 2^e.
        scale: bool,
    },
    /// HVX: f32 rows, scaled, to FP16 tiles whose p index is the column.
    PackCols {
        /// Destination.
        window: WindowId,
        /// Source.
        operand: OperandId,
        /// Block of the source.
        block: [AxisId; 2],
        /// Multiply every row by its own 2^e.
        scale: bool,
    },
    /// HVX: FP16 rows in VTCM to tiles whose p index is the row (pairs of rows interleaved).
    InterleavePairs {
        /// Destination.
        to: WindowId,
        /// Source.
        from: WindowId,
    },
    /// HVX: FP16 rows in VTCM to tiles whose p index is the column (words scattered).
    ScatterWords {
        /// Destination.
        to: WindowId,
        /// Source.
        from: WindowId,
    },
    /// HVX: packed tiles to FP16 tiles whose p index is the column of the operand.
    Dequantise {
        /// Destination.
        to: WindowId,
        /// Source.
        from: WindowId,
    },
    /// HVX: a step of the kernel's author, tile by tile.
    Apply {
        /// The step.
        step: HvxStepId,
        /// Destination.
        to: WindowId,
        /// Source.
        from: WindowId,
    },
    /// HMX: product over the contraction both windows hold.
    Multiply {
        /// Destination.
        to: WindowId,
        /// Tiles made from token rows.
        data: WindowId,
        /// Tiles made from the weight.
        weights: WindowId,
        /// Off: data is the HMX activation, weights the HMX weight. On: the other way round, and the result transposed.
        swap: bool,
    },
    /// HVX: output tiles whose rows are token rows, to f32 rows: of the blocks of the contraction the first stores, the
    /// others add.
    UnpackRows {
        /// Destination.
        operand: OperandId,
        /// Block of the destination.
        block: [AxisId; 2],
        /// Source.
        window: WindowId,
        /// Multiply every row by 2^-e.
        unscale: bool,
        /// Factor and addend of each column.
        columns: ColumnFactors,
        /// Flag a row with an element that is not finite or whose magnitude reaches this.
        guard: Option<u32>,
    },
    /// HVX: output tiles whose columns are token rows, to f32 rows: of the blocks of the contraction the first stores, the
    /// others add.
    UnpackCols {
        /// Destination.
        operand: OperandId,
        /// Block of the destination.
        block: [AxisId; 2],
        /// Source.
        window: WindowId,
        /// Multiply every row by 2^-e.
        unscale: bool,
        /// Factor and addend of each column.
        columns: ColumnFactors,
        /// Flag a row with an element that is not finite or whose magnitude reaches this.
        guard: Option<u32>,
    },
}

impl StepKind {
    /// The step's name in the language.
    pub const fn keyword(&self) -> &'static str {
        match self {
            StepKind::Load { .. } => "load",
            StepKind::PackRows { .. } => "pack_rows",
            StepKind::PackCols { .. } => "pack_cols",
            StepKind::InterleavePairs { .. } => "interleave_pairs",
            StepKind::ScatterWords { .. } => "scatter_words",
            StepKind::Dequantise { .. } => "dequantise",
            StepKind::Apply { .. } => "apply",
            StepKind::Multiply { .. } => "multiply",
            StepKind::UnpackRows { .. } => "unpack_rows",
            StepKind::UnpackCols { .. } => "unpack_cols",
        }
    }

    /// The window the step fills.
    pub fn writes(&self) -> Option<WindowId> {
        match *self {
            StepKind::Load { window, .. } | StepKind::PackRows { window, .. } | StepKind::PackCols { window, .. } => {
                Some(window)
            }
            StepKind::InterleavePairs { to, .. }
            | StepKind::ScatterWords { to, .. }
            | StepKind::Dequantise { to, .. }
            | StepKind::Apply { to, .. }
            | StepKind::Multiply { to, .. } => Some(to),
            StepKind::UnpackRows { .. } | StepKind::UnpackCols { .. } => None,
        }
    }

    /// The windows the step takes.
    pub fn reads(&self) -> Vec<WindowId> {
        match *self {
            StepKind::Load { .. } | StepKind::PackRows { .. } | StepKind::PackCols { .. } => Vec::new(),
            StepKind::InterleavePairs { from, .. }
            | StepKind::ScatterWords { from, .. }
            | StepKind::Dequantise { from, .. }
            | StepKind::Apply { from, .. } => vec![from],
            StepKind::Multiply { data, weights, .. } => vec![data, weights],
            StepKind::UnpackRows { window, .. } | StepKind::UnpackCols { window, .. } => {
                vec![window]
            }
        }
    }

    /// The window a conversion reads; `None` for steps that are not from one window into another.
    pub fn converts(&self) -> Option<WindowId> {
        match *self {
            StepKind::InterleavePairs { from, .. }
            | StepKind::ScatterWords { from, .. }
            | StepKind::Dequantise { from, .. }
            | StepKind::Apply { from, .. } => Some(from),
            _ => None,
        }
    }

    /// The operand the step touches, and the block of it.
    pub fn operand(&self) -> Option<(OperandId, [AxisId; 2])> {
        match *self {
            StepKind::Load { operand, block, .. }
            | StepKind::PackRows { operand, block, .. }
            | StepKind::PackCols { operand, block, .. }
            | StepKind::UnpackRows { operand, block, .. }
            | StepKind::UnpackCols { operand, block, .. } => Some((operand, block)),
            _ => None,
        }
    }

    /// Vectors over the columns of the output that the step takes.
    pub fn vectors(&self) -> Vec<OperandId> {
        match *self {
            StepKind::UnpackRows { columns, .. } | StepKind::UnpackCols { columns, .. } => {
                columns.scale.into_iter().chain(columns.bias).collect()
            }
            _ => Vec::new(),
        }
    }
}
