//! One run of any kernel, with whatever operands it declares.

use std::ops::Range;

use kernel_gen::Plan;

use super::{DeviceFault, KernelPlan};
use crate::abi;
use crate::buffer::AlignedBytes;

/// One operand in DDR, in memory of its own that starts on a 128-byte boundary.
pub struct DdrOperand {
    memory: AlignedBytes,
    bytes: usize,
    rows: u32,
    cols: u32,
    row_stride: u32,
}

impl DdrOperand {
    /// An operand with these bytes; `rows`, `cols` and `row_stride` as `struct pf_operand` states them.
    pub fn new(bytes: &[u8], rows: u32, cols: u32, row_stride: u32) -> DdrOperand {
        let mut memory = AlignedBytes::zeroed(bytes.len());
        memory.as_mut_slice::<u8>()[..bytes.len()].copy_from_slice(bytes);
        DdrOperand { memory, bytes: bytes.len(), rows, cols, row_stride }
    }

    /// The bytes as they are now.
    pub fn bytes(&self) -> &[u8] {
        &self.memory.bytes()[..self.bytes]
    }

    /// The bytes, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory.as_mut_slice::<u8>()[..self.bytes]
    }
}

/// A kernel, its plan and its operands, ready to run as often as wanted.
///
/// [`Product`](super::Product) is the runtime's own form, which borrows its memory; a call owns it, for tools and tests
/// that run kernels the runtime does not know.
pub struct Call {
    plan: KernelPlan,
    axes: [u32; abi::PF_MAX_AXES as usize],
    operands: Vec<DdrOperand>,
    exponents: Vec<i32>,
    flags: Vec<u8>,
}

impl Call {
    /// A call of the kernel `plan` is for: extents of its axes (token rows first, at most the plan's) and its operands, both
    /// in declaration order. Exponents and flags start as zero.
    ///
    /// # Errors
    /// [`DeviceFault::BadRequest`]: more axes or operands than the wire ABI carries, or none.
    pub fn new(plan: &Plan, axes: &[u32], operands: Vec<DdrOperand>) -> Result<Call, DeviceFault> {
        let mut extents = [0; abi::PF_MAX_AXES as usize];
        if axes.is_empty() || axes.len() > extents.len() || operands.len() > abi::PF_MAX_OPERANDS as usize {
            return Err(DeviceFault::BadRequest);
        }
        extents[..axes.len()].copy_from_slice(axes);
        let tokens = extents[0] as usize;
        Ok(Call {
            plan: KernelPlan::from(plan),
            axes: extents,
            operands,
            exponents: vec![0; tokens],
            flags: vec![0; tokens],
        })
    }

    /// e of every token row's 2^e.
    pub fn exponents_mut(&mut self) -> &mut [i32] {
        &mut self.exponents
    }

    /// One per token row: whether a partial sum was not finite or at least 60 000 in magnitude.
    pub fn flags(&self) -> &[u8] {
        &self.flags
    }

    /// The flags, to be changed.
    pub fn flags_mut(&mut self) -> &mut [u8] {
        &mut self.flags
    }

    /// The operands in declaration order.
    pub fn operands(&self) -> &[DdrOperand] {
        &self.operands
    }

    /// The operands, to be changed.
    pub fn operands_mut(&mut self) -> &mut [DdrOperand] {
        &mut self.operands
    }

    pub(super) fn exponents(&self) -> &[i32] {
        &self.exponents
    }

    pub(super) fn plan(&self) -> abi::pf_plan {
        self.plan.0
    }

    /// The request for token rows `rows`; flags are cleared.
    pub(super) fn request(&mut self, rows: Range<u32>) -> Result<abi::pf_request, DeviceFault> {
        if rows.start > rows.end || rows.end > self.axes[0] {
            return Err(DeviceFault::BadRequest);
        }
        self.flags.fill(0);
        let mut operands = [abi::pf_operand::default(); abi::PF_MAX_OPERANDS as usize];
        for (to, operand) in operands.iter_mut().zip(&mut self.operands) {
            *to = abi::pf_operand {
                // From a mutable borrow: the kernel writes to what it declares as output.
                address: operand.memory.as_mut_slice::<u8>().as_mut_ptr().addr() as u64,
                bytes: operand.bytes as u64,
                rows: operand.rows,
                cols: operand.cols,
                row_stride: operand.row_stride,
                reserved: 0,
            };
        }
        Ok(abi::pf_request {
            abi_version: abi::PF_ABI_VERSION,
            bytes: size_of::<abi::pf_request>() as u32,
            kernel: self.plan.0.kernel,
            id: 0,
            axes: self.axes,
            row_begin: rows.start,
            row_end: rows.end,
            operands,
            row_exponents: self.exponents.as_mut_ptr().addr() as u64,
            row_flags: self.flags.as_mut_ptr().addr() as u64,
        })
    }
}
