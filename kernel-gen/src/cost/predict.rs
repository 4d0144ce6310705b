//! What bounds a request, predicted from its counts.

use std::fmt;

use super::{Cost, Machine};

/// The unit that takes longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Multiplying tiles.
    Hmx,
    /// Packing, turning weights into tiles, unpacking.
    Hvx,
    /// Moving operands.
    Ddr,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Bound::Hmx => "HMX",
            Bound::Hvx => "HVX",
            Bound::Ddr => "DDR",
        })
    }
}

/// Seconds each unit would be busy. A prediction: no device has run these kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// HMX multiplies, without converts (no figure for them is published).
    pub hmx_seconds: f64,
    /// HVX steps one after the other, split ones on the workers, the others on one thread.
    pub hvx_seconds: f64,
    /// DMA and the rows HVX reads and writes, at the DDR rate.
    pub ddr_seconds: f64,
    /// The largest of the three.
    pub bound: Bound,
    /// HVX and HMX one after the other, as the emitted schedule issues them, DMA beside them.
    pub in_order_seconds: f64,
    /// All units busy all the time: no order of these steps with this split is faster under the constants used.
    pub overlapped_seconds: f64,
}

/// Predicts from `cost` with the constants of `machine`.
pub fn predict(cost: &Cost, machine: &Machine) -> Prediction {
    let clock = machine.clock.value;
    let hmx_seconds = cost.total.tiles as f64 * machine.hmx_cycles_per_tile.value / clock;
    let hvx_seconds = cost.busiest_packets as f64 / clock;
    let bytes = cost.total.dma_bytes + cost.total.row_bytes_read + cost.total.row_bytes_written;
    let ddr_seconds = bytes as f64 / machine.ddr_bytes_per_second.value;
    let overlapped_seconds = hmx_seconds.max(hvx_seconds).max(ddr_seconds);
    let bound = if overlapped_seconds == hmx_seconds {
        Bound::Hmx
    } else if overlapped_seconds == hvx_seconds {
        Bound::Hvx
    } else {
        Bound::Ddr
    };
    Prediction {
        hmx_seconds,
        hvx_seconds,
        ddr_seconds,
        bound,
        in_order_seconds: (hmx_seconds + hvx_seconds).max(ddr_seconds),
        overlapped_seconds,
    }
}
