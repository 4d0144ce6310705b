use std::ops::Range;

use kernel_gen::Plan;

use super::DeviceFault;
use crate::abi;

/// A plan as the device reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelPlan(pub(super) abi::pf_plan);

impl From<&Plan> for KernelPlan {
    fn from(plan: &Plan) -> KernelPlan {
        let record = plan.record();
        KernelPlan(abi::pf_plan {
            abi_version: record.abi_version,
            bytes: record.bytes,
            arch: record.arch,
            kernel: record.kernel,
            axes: record.axes,
            tunables: record.tunables,
            windows: record.windows.map(|window| abi::pf_window {
                offset: window.offset,
                stage_bytes: window.stage_bytes,
                stages: window.stages,
                reserved: window.reserved,
            }),
            window_count: record.window_count,
            vtcm_bytes: record.vtcm_bytes,
            hash: record.hash,
        })
    }
}

/// A resident weight as the kernels read it; the base lies on a 128-byte boundary.
#[derive(Clone, Copy, Debug)]
pub struct WeightOperand<'a> {
    /// All bytes.
    pub bytes: &'a [u8],
    /// Padded output features.
    pub rows: u32,
    /// Padded input features.
    pub cols: u32,
    /// Bytes of one row (FP16) or of one row of tiles (Q8).
    pub row_stride: u32,
}

/// One product: rows in, a weight, rows out.
///
/// `input` and `output` start on 128-byte boundaries; strides are in values and multiples of 32. `axes` are the
/// extents (tokens, out, in) of this request; only token rows `rows` are computed, and only their output rows and flags
/// are written.
#[derive(Debug)]
pub struct Product<'a> {
    /// Plan of the kernel.
    pub plan: &'a KernelPlan,
    /// Tokens, out, in.
    pub axes: [u32; 3],
    /// Token rows to compute.
    pub rows: Range<u32>,
    /// Token rows in.
    pub input: &'a [f32],
    /// Values in an input row.
    pub input_width: u32,
    /// Values from one input row to the next.
    pub input_stride: u32,
    /// The weight.
    pub weight: WeightOperand<'a>,
    /// Token rows out.
    pub output: &'a mut [f32],
    /// Values in an output row.
    pub output_width: u32,
    /// Values from one output row to the next.
    pub output_stride: u32,
    /// e of every token row's 2^e.
    pub exponents: &'a [i32],
    /// Set to 1 where a partial sum was not finite or at least 60 000 in magnitude.
    pub flags: &'a mut [u8],
}

impl Product<'_> {
    /// The request for the device, after the checks that make its addresses good for the bytes it states.
    pub(super) fn request(&mut self) -> Result<abi::pf_request, DeviceFault> {
        let tokens = self.axes[0] as usize;
        let fits = |values: usize, stride: u32| Some(values) >= tokens.checked_mul(stride as usize);
        let sound = fits(self.input.len(), self.input_stride)
            && fits(self.output.len(), self.output_stride)
            && self.input_width <= self.input_stride
            && self.output_width <= self.output_stride
            && self.exponents.len() >= tokens
            && self.flags.len() >= tokens
            && self.rows.start <= self.rows.end
            && self.rows.end <= self.axes[0];
        if !sound {
            return Err(DeviceFault::BadRequest);
        }
        let float_rows = |address: *const f32, cols: u32, stride: u32| abi::pf_operand {
            address: address.addr() as u64,
            bytes: tokens as u64 * u64::from(stride) * 4,
            rows: self.axes[0],
            cols,
            row_stride: stride * 4,
            reserved: 0,
        };
        let operands = [
            float_rows(self.input.as_ptr(), self.input_width, self.input_stride),
            abi::pf_operand {
                address: self.weight.bytes.as_ptr().addr() as u64,
                bytes: self.weight.bytes.len() as u64,
                rows: self.weight.rows,
                cols: self.weight.cols,
                row_stride: self.weight.row_stride,
                reserved: 0,
            },
            float_rows(self.output.as_mut_ptr(), self.output_width, self.output_stride),
            abi::pf_operand::default(),
            abi::pf_operand::default(),
            abi::pf_operand::default(),
        ];
        Ok(abi::pf_request {
            abi_version: abi::PF_ABI_VERSION,
            bytes: size_of::<abi::pf_request>() as u32,
            kernel: self.plan.0.kernel,
            id: 0,
            axes: [self.axes[0], self.axes[1], self.axes[2], 0],
            row_begin: self.rows.start,
            row_end: self.rows.end,
            operands,
            row_exponents: self.exponents.as_ptr().addr() as u64,
            row_flags: self.flags.as_mut_ptr().addr() as u64,
        })
    }
}
