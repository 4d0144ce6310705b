//! HVX steps of a kernel author: a C body in vector operations of the device layer, and what it computes, in Rust.

use std::fmt;

use half::f16;

use super::{Source, TILE, TILE_BYTES, TileFormat};

/// Index into [`super::Kernel::steps`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HvxStepId(pub usize);

/// Which side of its source the pair index p of the FP16 tiles runs along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// p counts rows of the source.
    Rows,
    /// p counts columns of the source.
    Cols,
}

/// The tiles a step reads. It always makes FP16 tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepInput {
    /// Packed tiles, made into FP16 tiles that pair along one side of them.
    Packed(TileFormat, Pairs),
    /// 32×32 patches of FP16 rows in VTCM, made into FP16 tiles that pair along one side of them.
    Rows(Pairs),
    /// FP16 tiles; element (p, q) stays where it is.
    F16,
}

impl StepInput {
    /// Bytes of one input tile; of a patch of rows, its 32 rows of 64 bytes without the distance between them.
    pub const fn tile_bytes(&self) -> u32 {
        match self {
            StepInput::Packed(format, _) => format.bytes,
            StepInput::Rows(_) | StepInput::F16 => TILE_BYTES,
        }
    }
}

/// A step that turns one tile into one FP16 tile.
///
/// The body is the inside of `(pf_device *dev, uint8_t *to, const uint8_t *from)`: it reads the input tile at `from`, which
/// is aligned to a vector and followed by padding up to one, and stores all 16 vectors of the FP16 tile at `to`. Element
/// (p, q) of that tile lies at byte `(p>>1)*128 + q*4 + (p&1)*2`. A body that reads rows has a fourth argument, `uint32_t
/// row_stride`: row r of its patch is 64 bytes at `from + r * row_stride`, aligned to 64.
#[derive(Debug, Clone)]
pub struct HvxStep {
    /// Name.
    pub name: String,
    /// The doc comment, one line per entry.
    pub doc: Vec<String>,
    /// What it reads.
    pub input: StepInput,
    /// C, line by line.
    pub body: String,
    /// Where its text begins, so that compilers can name its lines; the default where nobody knows.
    pub body_source: Source,
    /// What the body computes.
    pub reference: StepReference,
    /// Where it is defined.
    pub source: Source,
}

impl HvxStep {
    /// The FP16 tile the body must make of `input`: every element of the reference rounded once, to nearest even.
    pub fn expected(&self, input: &[u8]) -> Vec<u8> {
        let mut tile = vec![0; TILE_BYTES as usize];
        let edge = TILE as usize;
        for (p, q) in (0..edge).flat_map(|p| (0..edge).map(move |q| (p, q))) {
            let value = f16::from_f64(self.reference.element(&InputTile::new(input), p, q));
            let at = element_offset(p, q);
            tile[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        tile
    }
}

const fn element_offset(p: usize, q: usize) -> usize {
    (p >> 1) * 128 + q * 4 + (p & 1) * 2
}

/// The bytes of one input tile, as a step's reference sees them.
#[derive(Debug, Clone, Copy)]
pub struct InputTile<'a>(&'a [u8]);

impl<'a> InputTile<'a> {
    /// The tile with these bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Byte `at`.
    ///
    /// # Panics
    /// As everything here: where the tile ends before, at the line that asked.
    #[track_caller]
    pub fn byte(&self, at: usize) -> u8 {
        let [byte] = self.bytes(at);
        byte
    }

    /// Byte `at` as a signed number.
    #[track_caller]
    pub fn signed(&self, at: usize) -> f64 {
        f64::from(self.byte(at) as i8)
    }

    /// The FP16 number at byte `at`.
    #[track_caller]
    pub fn half(&self, at: usize) -> f64 {
        f16::from_le_bytes(self.bytes(at)).to_f64()
    }

    /// Element (row, column) of a patch of FP16 rows.
    #[track_caller]
    pub fn patch(&self, row: usize, column: usize) -> f64 {
        inside("tile.patch", row, column);
        self.half((row * TILE as usize + column) * 2)
    }

    /// Element (p, q) of an FP16 tile.
    #[track_caller]
    pub fn element(&self, p: usize, q: usize) -> f64 {
        inside("tile.element", p, q);
        self.half(element_offset(p, q))
    }

    #[track_caller]
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        let bytes = self.0.get(at..).and_then(|bytes| bytes.first_chunk());
        match bytes {
            Some(bytes) => *bytes,
            None => {
                panic!("the input tile has {} bytes, none of which is byte {}", self.0.len(), at.saturating_add(N - 1))
            }
        }
    }
}

/// Both indices count rows or columns of one tile.
#[track_caller]
fn inside(what: &str, row: usize, column: usize) {
    let edge = TILE as usize;
    assert!(row < edge && column < edge, "{what}({row}, {column}) is outside the tile, which is {edge} × {edge}");
}

/// Element (p, q) of the FP16 tile, before it is rounded, from the input tile.
#[derive(Clone, Copy)]
pub struct StepReference(fn(&InputTile<'_>, usize, usize) -> f64);

impl StepReference {
    /// Wraps the function that computes element (p, q).
    pub const fn new(element: fn(&InputTile<'_>, usize, usize) -> f64) -> Self {
        Self(element)
    }

    /// Element (p, q) made of `tile`.
    pub fn element(&self, tile: &InputTile<'_>, p: usize, q: usize) -> f64 {
        (self.0)(tile, p, q)
    }
}

impl fmt::Debug for StepReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StepReference(fn)")
    }
}
