//! The counting walk: the loops of the emitted C with every run of equal blocks taken at once.

use std::ops::Range;

use super::{Counts, Machine, StepCost};
use crate::{
    Plan, Verified,
    ir::{AxisId, Loop, OperandId, OperandLayout, Statement, StepKind, TILE, WindowId},
    verify::Placed,
};

/// Most tiles in an HMX packet.
const PACKET_TILES: u64 = 32;

/// What a request does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// One entry per step, in program order.
    pub steps: Vec<StepCost>,
    /// All steps together.
    pub total: Counts,
    /// Vector packets of all steps.
    pub vector_packets: u64,
    /// Vector packets of all steps one after the other, each on its busiest thread.
    pub busiest_packets: u64,
}

/// The work of token rows `rows` under `plan`, on one device.
pub fn cost(kernel: &Verified, plan: &Plan, rows: Range<u32>) -> Cost {
    let kernel = kernel.on(plan.arch);
    let placed = Placed::all(&kernel.kernel().schedule);
    let steps = placed
        .iter()
        .map(|p| StepCost {
            keyword: p.step.kind.keyword(),
            label: label(kernel, &p.step.kind),
            source: p.step.source,
            runs: 0,
            counts: Counts::default(),
            vector_packets: 0,
            busiest_packets: 0,
        })
        .collect();
    let mut walk = Walk {
        kernel,
        plan,
        rows,
        machine: Machine::of(plan.arch),
        lengths: vec![0; plan.axes.len()],
        first_sum: true,
        steps,
        next: 0,
    };
    walk.body(&kernel.kernel().schedule, 1);
    let mut total = Counts::default();
    let (mut vector_packets, mut busiest_packets) = (0, 0);
    for step in &walk.steps {
        total += step.counts;
        vector_packets += step.vector_packets;
        busiest_packets += step.busiest_packets;
    }
    Cost { steps: walk.steps, total, vector_packets, busiest_packets }
}

/// Keyword and destination, as the traps of the checked model name the step.
pub(crate) fn label(kernel: &Verified, kind: &StepKind) -> String {
    let kernel = kernel.kernel();
    let target = match (kind.writes(), kind.operand()) {
        (Some(window), _) => &kernel.windows[window.0].name,
        (None, Some((operand, _))) => &kernel.operands[operand.0].name,
        (None, None) => return kind.keyword().to_string(),
    };
    format!("{} {target}", kind.keyword())
}

/// Blocks of one length, and whether they start the axis.
struct Blocks {
    length: u32,
    count: u64,
    first: bool,
}

struct Walk<'a> {
    kernel: &'a Verified,
    plan: &'a Plan,
    rows: Range<u32>,
    machine: Machine,
    /// Length of the current block of every axis.
    lengths: Vec<u32>,
    /// Whether the current block of the contraction is its first.
    first_sum: bool,
    steps: Vec<StepCost>,
    /// Index of the next step in program order.
    next: usize,
}

impl Walk<'_> {
    fn body(&mut self, body: &[Statement], times: u64) {
        for statement in body {
            match statement {
                Statement::Loop(l) => self.walk(l, times),
                Statement::Step(step) => {
                    let (counts, vector_packets) = self.once(&step.kind);
                    let workers = if step.split.is_some() { self.machine.workers() } else { 1 };
                    // Strips are equal, and a worker gets whole ones.
                    let busiest = match counts.strips {
                        0 => vector_packets,
                        strips => vector_packets / strips * strips.div_ceil(workers),
                    };
                    let slot = &mut self.steps[self.next];
                    slot.runs += times;
                    slot.counts += counts.times(times);
                    slot.vector_packets += vector_packets * times;
                    slot.busiest_packets += busiest * times;
                    self.next += 1;
                }
            }
        }
    }

    fn walk(&mut self, l: &Loop, times: u64) {
        let first_step = self.next;
        let mut end = first_step + steps_in(&l.body);
        for blocks in self.blocks(l) {
            self.lengths[l.axis.0] = blocks.length;
            if l.axis == self.kernel.facts().contraction {
                self.first_sum = blocks.first;
            }
            self.next = first_step;
            self.body(&l.body, times * blocks.count);
            end = self.next;
        }
        self.next = end;
    }

    fn blocks(&self, l: &Loop) -> Vec<Blocks> {
        let extent = if l.axis == self.kernel.facts().token {
            self.rows.end.saturating_sub(self.rows.start)
        } else {
            self.plan.axes[l.axis.0].extent
        };
        let tile = self.plan.tunables[l.tile.0].value;
        let (whole, tail) = (extent / tile, extent % tile);
        let mut blocks = Vec::new();
        if whole > 0 {
            blocks.push(Blocks { length: tile, count: 1, first: true });
        }
        if whole > 1 {
            blocks.push(Blocks { length: tile, count: u64::from(whole - 1), first: false });
        }
        if tail > 0 {
            blocks.push(Blocks { length: tail, count: 1, first: whole == 0 });
        }
        blocks
    }

    fn length(&self, axis: AxisId) -> u64 {
        u64::from(self.lengths[axis.0])
    }

    fn tiles(&self, axis: AxisId) -> u64 {
        self.length(axis).div_ceil(u64::from(TILE))
    }

    fn axes(&self, window: WindowId) -> [AxisId; 2] {
        // The verifier has shown that both extents tile an axis.
        self.kernel.facts().window_axes(self.kernel.kernel(), window).unwrap_or([AxisId(0); 2])
    }

    /// One run of a step with the current blocks: its work, and its predicted vector packets.
    fn once(&self, kind: &StepKind) -> (Counts, u64) {
        let machine = &self.machine;
        match *kind {
            StepKind::Load { operand, block, .. } => (self.load(operand, block), 0),
            StepKind::PackRows { operand, block, .. } | StepKind::PackCols { operand, block, .. } => {
                let mut counts = self.strips(block);
                counts.row_bytes_read = self.row_bytes(operand, block);
                (counts, counts.strip_tiles * machine.pack_packets)
            }
            StepKind::InterleavePairs { from, .. } | StepKind::ScatterWords { from, .. } => {
                let counts = self.strips(self.axes(from));
                (counts, counts.strip_tiles * machine.reorder_packets)
            }
            // Nobody has counted an author's own step: it is charged like the dequantiser, the conversion it resembles.
            StepKind::Dequantise { from, .. } | StepKind::Apply { from, .. } => {
                let counts = self.strips(self.axes(from));
                (counts, counts.strip_tiles * machine.dequantise_packets)
            }
            StepKind::Multiply { data, weights, .. } => {
                let [rows, run] = self.axes(data).map(|a| self.tiles(a));
                let outputs = rows * self.tiles(self.axes(weights)[0]);
                let counts = Counts {
                    packets: outputs * run.div_ceil(PACKET_TILES),
                    tiles: outputs * run,
                    stores: outputs,
                    ..Counts::default()
                };
                (counts, 0)
            }
            StepKind::UnpackRows { operand, block, .. } | StepKind::UnpackCols { operand, block, .. } => {
                let adds = !self.first_sum;
                let mut counts = self.strips(block);
                counts.row_bytes_written = self.row_bytes(operand, block);
                counts.row_bytes_read = if adds { counts.row_bytes_written } else { 0 };
                let packets = if adds { machine.add_packets } else { machine.unpack_packets };
                (counts, counts.strip_tiles * packets)
            }
        }
    }

    fn load(&self, operand: OperandId, block: [AxisId; 2]) -> Counts {
        let operand = &self.kernel.kernel().operands[operand.0];
        let [rows, cols] = block.map(|a| self.tiles(a));
        let tile = u64::from(TILE);
        match operand.layout {
            OperandLayout::RowMajor => {
                let element = u64::from(operand.element.bytes());
                Counts { dma_descriptors: 1, dma_bytes: cols * tile * element * rows * tile, ..Counts::default() }
            }
            OperandLayout::Tiles(format) => {
                Counts { dma_descriptors: rows, dma_bytes: rows * cols * u64::from(format.bytes), ..Counts::default() }
            }
            OperandLayout::Blocks(format) => {
                let bytes = self.length(block[0]) * cols * u64::from(format.bytes);
                Counts { dma_descriptors: 1, dma_bytes: bytes, ..Counts::default() }
            }
            // Unpack reads a column's factors from DDR; nothing loads them.
            OperandLayout::Vector => Counts::default(),
        }
    }

    /// One strip per 32 rows, walking the tiles of the columns.
    fn strips(&self, [rows, cols]: [AxisId; 2]) -> Counts {
        let strips = self.tiles(rows);
        Counts { strips, strip_tiles: strips * self.tiles(cols), ..Counts::default() }
    }

    fn row_bytes(&self, operand: OperandId, [rows, cols]: [AxisId; 2]) -> u64 {
        let element = self.kernel.kernel().operands[operand.0].element;
        self.length(rows) * self.length(cols) * u64::from(element.bytes())
    }
}

fn steps_in(body: &[Statement]) -> usize {
    body.iter()
        .map(|statement| match statement {
            Statement::Loop(l) => steps_in(&l.body),
            Statement::Step(_) => 1,
        })
        .sum()
}
