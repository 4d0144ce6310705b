//! The results of a run, where they lie, and what may lie around them.

use std::ops::Range;

use hexagon_runtime::device::Call;
use kernel_gen::Kernel;
use kernel_gen::ddr::DdrImage;
use kernel_gen::ir::OperandRole;

use super::{Trial, Wrong};

/// What output memory holds before a run: NaN, if read as f32.
const UNTOUCHED: u8 = 0xff;

/// Where the results lie.
pub(super) struct Outputs {
    operand: usize,
    name: String,
    width: usize,
    stride: usize,
    rows: Range<usize>,
}

impl Outputs {
    pub fn of(kernel: &Kernel, trial: &Trial, images: &[DdrImage]) -> Outputs {
        let operand = kernel.operands.iter().position(|o| o.role == OperandRole::Output).unwrap_or(0);
        Outputs {
            operand,
            name: kernel.operands[operand].name.clone(),
            width: trial.extents[kernel.operands[operand].axes[1].0],
            stride: images[operand].row_stride as usize,
            rows: trial.rows(),
        }
    }

    /// Index of the operand.
    pub fn operand(&self) -> usize {
        self.operand
    }

    /// Output columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Forgets every earlier result.
    pub fn clear(&self, call: &mut Call) {
        call.operands_mut()[self.operand].bytes_mut().fill(UNTOUCHED);
    }

    pub fn row_bytes(&self, row: usize, call: &Call) -> Vec<u8> {
        call.operands()[self.operand].bytes()[row * self.stride..][..self.width * 4].to_vec()
    }

    pub fn row(&self, row: usize, call: &Call) -> impl Iterator<Item = f32> {
        let bytes = self.row_bytes(row, call);
        (0..self.width)
            .map(move |i| f32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]))
    }

    /// Both models must give the same row.
    pub fn same_bits(&self, row: usize, checked: &Call, fast: &Call) -> Result<(), Wrong> {
        let pairs = self.row(row, checked).zip(self.row(row, fast));
        for (column, (checked, fast)) in pairs.enumerate() {
            if checked.to_bits() != fast.to_bits() {
                return Err(Wrong::Bits { row, column, checked, fast });
            }
        }
        Ok(())
    }

    /// Nothing but the rows asked for may have been written.
    pub fn check_untouched(&self, call: &Call) -> Result<(), Wrong> {
        let bytes = call.operands()[self.operand].bytes();
        let stray = bytes.iter().enumerate().find(|&(byte, &value)| {
            let (row, within) = (byte / self.stride, byte % self.stride);
            let ours = self.rows.contains(&row) && within < self.width * 4;
            !ours && value != UNTOUCHED
        });
        let Some((byte, _)) = stray else { return Ok(()) };
        let row = byte / self.stride;
        let place = if self.rows.contains(&row) {
            format!("behind the end of row {row}")
        } else {
            format!("row {row}; the request was for rows {}..{}", self.rows.start, self.rows.end)
        };
        Err(Wrong::Stray { operand: self.name.clone(), byte, place })
    }
}
