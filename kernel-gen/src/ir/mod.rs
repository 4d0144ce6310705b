//! The kernel as data: what `kernel!` builds, what the verifier proves things about, what the back end lowers.
//!
//! All fields are public: a tool or a test may build or alter a kernel by hand, because nothing is emitted without the
//! proof of [`crate::verify()`].

mod axis;
mod block_format;
mod hvx_step;
mod operand;
mod reference;
mod requirement;
mod schedule;
mod source;
mod tile_format;
mod tunable;
mod variant;
mod window;

pub use axis::{Axis, AxisId, AxisRole};
pub use block_format::BlockFormat;
pub use hvx_step::{HvxStep, HvxStepId, InputTile, Pairs, StepInput, StepReference};
pub use operand::{Element, Operand, OperandId, OperandLayout, OperandRole, Scope};
pub use reference::{Reference, ReferenceCase, ReferenceError};
pub use requirement::{Condition, Quantity, Requirement, Sides};
pub use schedule::{ColumnFactors, Loop, Statement, Step, StepKind};
pub use source::Source;
pub use tile_format::TileFormat;
pub use tunable::{Candidates, Tunable, TunableId};
pub use variant::Variant;
pub use window::{Window, WindowId, WindowLayout};

/// Edge of an HMX tile, in elements.
pub const TILE: u32 = 32;
/// Bytes of one FP16 tile.
pub const TILE_BYTES: u32 = 2048;
/// Bytes of an HVX vector.
pub const VECTOR_BYTES: u32 = 128;

/// One kernel of the library or of a kernel author.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Name, also of the C entry `pf_<name>`.
    pub name: String,
    /// The doc comment, one line per entry.
    pub doc: Vec<String>,
    /// Where the kernel is defined.
    pub source: Source,
    /// Axes, in the order of the ABI's `axes`.
    pub axes: Vec<Axis>,
    /// DDR operands, in the order of the ABI's `operands`.
    pub operands: Vec<Operand>,
    /// Tile sizes, in the order of the ABI's `tunables`.
    pub tunables: Vec<Tunable>,
    /// VTCM windows, in the order of the ABI's `windows`.
    pub windows: Vec<Window>,
    /// What tile sizes must satisfy beside fitting VTCM.
    pub requirements: Vec<Requirement>,
    /// HVX steps the author defines, in any order.
    pub steps: Vec<HvxStep>,
    /// The loops over tiles and their steps.
    pub schedule: Vec<Statement>,
    /// What the kernel computes, in f64.
    pub reference: Reference,
    /// What takes this kernel's place on an architecture where a `when` makes it another; empty for most kernels.
    pub variants: Vec<Variant>,
}

impl Kernel {
    /// The number plans and requests name the kernel by: FNV-1a of its name.
    pub fn id(&self) -> u32 {
        crate::fnv1a_32(self.name.as_bytes())
    }
}
