//! Work, in the units the functional model counts.

use std::ops::AddAssign;

use crate::ir::Source;

/// Work of a step or a kernel. The first seven are `struct pf_counts` of `device/model.h`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// HMX multiply packets, each of up to 32 tile pairs.
    pub packets: u64,
    /// Tile pairs multiplied.
    pub tiles: u64,
    /// Accumulators converted to an FP16 tile.
    pub stores: u64,
    /// Bytes moved by DMA from DDR to VTCM.
    pub dma_bytes: u64,
    /// DMA descriptors issued.
    pub dma_descriptors: u64,
    /// HVX strip calls: 32 rows each.
    pub strips: u64,
    /// Tiles those calls walked.
    pub strip_tiles: u64,
    /// Bytes HVX reads from operands in DDR.
    pub row_bytes_read: u64,
    /// Bytes HVX writes to operands in DDR.
    pub row_bytes_written: u64,
}

impl Counts {
    /// The same work `n` times.
    #[must_use]
    pub fn times(self, n: u64) -> Counts {
        Counts {
            packets: self.packets * n,
            tiles: self.tiles * n,
            stores: self.stores * n,
            dma_bytes: self.dma_bytes * n,
            dma_descriptors: self.dma_descriptors * n,
            strips: self.strips * n,
            strip_tiles: self.strip_tiles * n,
            row_bytes_read: self.row_bytes_read * n,
            row_bytes_written: self.row_bytes_written * n,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.packets += other.packets;
        self.tiles += other.tiles;
        self.stores += other.stores;
        self.dma_bytes += other.dma_bytes;
        self.dma_descriptors += other.dma_descriptors;
        self.strips += other.strips;
        self.strip_tiles += other.strip_tiles;
        self.row_bytes_read += other.row_bytes_read;
        self.row_bytes_written += other.row_bytes_written;
    }
}

/// What one step of the schedule does over the whole request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepCost {
    /// The step's keyword.
    pub keyword: &'static str,
    /// Keyword and what it fills, as in a trap.
    pub label: String,
    /// Where it is written.
    pub source: Source,
    /// How often it runs.
    pub runs: u64,
    /// Its work.
    pub counts: Counts,
    /// Vector packets of HVX, predicted: see [`super::Machine`].
    pub vector_packets: u64,
    /// The part of them on the thread with the most: all, or the most strips one HVX worker of a split step gets.
    pub busiest_packets: u64,
}
