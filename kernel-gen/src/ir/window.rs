//! Windows: buffers in VTCM.

use super::{BlockFormat, Element, Source, TILE, TILE_BYTES, TileFormat, TunableId, VECTOR_BYTES};

/// Index into [`super::Kernel::windows`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowId(pub usize);

/// How a window is filled and what may read it.
///
/// An FP16 tile holds element (p, q) at byte `(p>>1)*128 + q*4 + (p&1)*2`. HMX reads the same bytes in two ways: as an
/// activation tile p is the row and q the contraction; as a weight tile p is the contraction and q the column. Tiles of
/// one contraction run lie one after the other, as HMX takes up to 32 of them in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowLayout {
    /// `[rows, contraction]`: p = row. The tiles of one row strip are contiguous along the contraction.
    ActivationTiles,
    /// `[columns, contraction]`: p = contraction. The tiles of one column strip are contiguous along the contraction.
    WeightTiles,
    /// `[rows, columns]` of a multiply: p = row. Tiles of one row strip are contiguous.
    OutputTiles,
    /// `[rows, columns]`, rows a multiple of 128 bytes apart.
    RowMajor,
    /// `[rows, columns]` as packed tiles, the format's stride apart, tiles of one row strip one after the other.
    Tiles(TileFormat),
    /// `[rows, columns]` as rows of blocks, rows a multiple of 128 bytes apart.
    Blocks(BlockFormat),
}

impl WindowLayout {
    /// The name of the layout in the language.
    pub const fn keyword(self) -> &'static str {
        match self {
            WindowLayout::ActivationTiles => "activation_tiles",
            WindowLayout::WeightTiles => "weight_tiles",
            WindowLayout::OutputTiles => "output_tiles",
            WindowLayout::RowMajor => "row_major",
            WindowLayout::Tiles(format) => format.name,
            WindowLayout::Blocks(format) => format.name,
        }
    }

    /// Whether HMX reads or writes the window.
    pub const fn is_hmx(self) -> bool {
        matches!(self, WindowLayout::ActivationTiles | WindowLayout::WeightTiles | WindowLayout::OutputTiles)
    }
}

/// One VTCM buffer, or `stages` of them.
#[derive(Debug, Clone)]
pub struct Window {
    /// Name.
    pub name: String,
    /// Layout.
    pub layout: WindowLayout,
    /// Element type.
    pub element: Element,
    /// The two extents, each a tunable.
    pub extents: [TunableId; 2],
    /// Number of buffers a software pipeline rotates through.
    pub stages: u32,
    /// Where it is declared.
    pub source: Source,
}

impl Window {
    /// Bytes of one stage for the two extents, rounded up to the 2048 bytes HMX addresses need; `None` on overflow.
    pub fn stage_bytes(&self, extents: [u32; 2]) -> Option<u64> {
        let [rows, cols] = extents.map(u64::from);
        let tile_grid = |bytes: u32| {
            let tile = u64::from(TILE);
            rows.div_ceil(tile).checked_mul(cols.div_ceil(tile))?.checked_mul(u64::from(bytes))
        };
        let whole_vectors = |bytes: u64| bytes.checked_next_multiple_of(u64::from(VECTOR_BYTES));
        let bytes = match self.layout {
            WindowLayout::ActivationTiles | WindowLayout::WeightTiles | WindowLayout::OutputTiles => {
                tile_grid(TILE_BYTES)
            }
            WindowLayout::Tiles(format) => tile_grid(format.stride),
            WindowLayout::RowMajor => whole_vectors(cols.checked_mul(2)?)?.checked_mul(rows),
            WindowLayout::Blocks(format) => {
                whole_vectors(cols.div_ceil(u64::from(TILE)).checked_mul(u64::from(format.bytes))?)?.checked_mul(rows)
            }
        }?;
        bytes.checked_next_multiple_of(u64::from(TILE_BYTES))
    }

    /// Bytes of all stages for the values of all tunables; `None` on overflow.
    pub fn bytes(&self, tunables: &[u32]) -> Option<u64> {
        self.stage_bytes(self.extents.map(|t| tunables[t.0]))?.checked_mul(self.stages.into())
    }
}
