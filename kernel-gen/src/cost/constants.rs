//! The constants behind predictions, each with its source.

use std::fmt;

use crate::Arch;

/// How sure a constant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// Measured on a device by the people who published it.
    Measured,
    /// Counted in compiled code.
    Counted,
    /// Derived from documents; nobody has confirmed it on silicon.
    Inferred,
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Certainty::Measured => "measured by others",
            Certainty::Counted => "counted",
            Certainty::Inferred => "inferred",
        })
    }
}

/// One constant of the cost model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// What it is.
    pub name: &'static str,
    /// Value.
    pub value: f64,
    /// Unit.
    pub unit: &'static str,
    /// How sure it is.
    pub certainty: Certainty,
    /// Where it comes from.
    pub source: &'static str,
}

/// The constants for one architecture. Packets are per 32×32 tile.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Cycles HMX takes for one tile pair.
    pub hmx_cycles_per_tile: Constant,
    /// Core clock.
    pub clock: Constant,
    /// DDR to VTCM.
    pub ddr_bytes_per_second: Constant,
    /// Vector packets to dequantise a Q8_0 tile.
    pub dequantise_packets: u64,
    /// Vector packets to pack a tile of f32 rows.
    pub pack_packets: u64,
    /// Vector packets to interleave or scatter a tile.
    pub reorder_packets: u64,
    /// Vector packets to unpack a tile and store it.
    pub unpack_packets: u64,
    /// Vector packets to unpack a tile and add it to what is there.
    pub add_packets: u64,
    /// HVX contexts.
    pub hvx_contexts: Constant,
}

/// Vectors of one FP16 tile.
const TILE_VECTORS: u64 = 16;
/// Vectors of one tile's worth of f32 rows.
const ROW_VECTORS: u64 = 32;

impl Machine {
    /// The constants of `arch`.
    pub const fn of(arch: Arch) -> Machine {
        let (contexts, contexts_source) = match arch {
            Arch::V79 => (6.0, "log of a V79 device"),
            Arch::V81 => (8.0, "log of a V81 device (llama.cpp #25876)"),
        };
        let ddr_source = match arch {
            Arch::V79 => "effective rate of GEMV on V79",
            Arch::V81 => "V79's figure; none is published for V81",
        };
        let ddr_certainty = match arch {
            Arch::V79 => Certainty::Measured,
            Arch::V81 => Certainty::Inferred,
        };
        Machine {
            hmx_cycles_per_tile: Constant {
                name: "HMX cycles per tile pair",
                value: 4.0,
                unit: "cycles",
                certainty: Certainty::Inferred,
                source: "32×32×32 / 8192 multiply-adds per cycle, from the open device model",
            },
            clock: Constant {
                name: "clock",
                value: 1.25e9,
                unit: "Hz",
                certainty: Certainty::Inferred,
                source: "8192 multiply-adds at this clock give the quoted peak of 20.4 TFLOPS",
            },
            ddr_bytes_per_second: Constant {
                name: "DDR bandwidth",
                value: 60e9,
                unit: "B/s",
                certainty: ddr_certainty,
                source: ddr_source,
            },
            // clang 22 -O3 for V79.
            dequantise_packets: 43,
            // One 128-byte access per packet.
            pack_packets: ROW_VECTORS + TILE_VECTORS,
            reorder_packets: 2 * TILE_VECTORS,
            unpack_packets: TILE_VECTORS + ROW_VECTORS,
            add_packets: TILE_VECTORS + 2 * ROW_VECTORS,
            hvx_contexts: Constant {
                name: "HVX contexts",
                value: contexts,
                unit: "threads",
                certainty: Certainty::Measured,
                source: contexts_source,
            },
        }
    }

    /// Threads that share the strips of a split step.
    pub const fn workers(&self) -> u64 {
        self.hvx_contexts.value as u64
    }

    /// Every constant, for a report.
    pub fn constants(&self) -> Vec<Constant> {
        let packets = |name, value: u64, certainty, source| Constant {
            name,
            value: value as f64,
            unit: "packets",
            certainty,
            source,
        };
        let access = "one 128-byte vector access per packet: a lower bound, the arithmetic is not in it";
        vec![
            self.hmx_cycles_per_tile,
            self.clock,
            self.ddr_bytes_per_second,
            self.hvx_contexts,
            packets(
                "dequantise a tile",
                self.dequantise_packets,
                Certainty::Counted,
                "straightforward loop, clang 22 -O3 for V79",
            ),
            packets("pack a tile", self.pack_packets, Certainty::Inferred, access),
            packets("interleave or scatter a tile", self.reorder_packets, Certainty::Inferred, access),
            packets("unpack a tile", self.unpack_packets, Certainty::Inferred, access),
            packets("unpack and add a tile", self.add_packets, Certainty::Inferred, access),
        ]
    }
}
