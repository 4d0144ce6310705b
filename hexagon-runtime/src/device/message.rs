//! A call as bytes, for a device in another process.

use std::ops::Range;

use super::{Call, DeviceFault};
use crate::abi;

impl Call {
    /// `struct pf_plan` and `struct pf_request` for token rows `rows` as this machine holds them, then the exponents and the bytes
    /// of every operand. The addresses in the request are those of this process: whoever reads it puts its own. Flags are
    /// cleared.
    ///
    /// # Errors
    /// [`DeviceFault::BadRequest`]: rows beyond the token axis.
    pub fn message(&mut self, rows: Range<u32>) -> Result<Vec<u8>, DeviceFault> {
        let request = self.request(rows)?;
        let plan = self.plan();
        let operands = self.operands().iter().map(|operand| operand.bytes().len()).sum::<usize>();
        let mut message = Message(Vec::with_capacity(512 + 4 * self.exponents().len() + operands));
        message.plan(&plan);
        message.request(&request);
        message.0.extend(self.exponents().iter().flat_map(|e| e.to_ne_bytes()));
        self.operands().iter().for_each(|operand| message.0.extend(operand.bytes()));
        Ok(message.0)
    }
}

/// Fields one after the other: neither struct has padding, which the sizes below hold.
struct Message(Vec<u8>);

impl Message {
    fn words(&mut self, words: &[u32]) {
        self.0.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    }

    fn long(&mut self, word: u64) {
        self.0.extend(word.to_ne_bytes());
    }

    fn plan(&mut self, plan: &abi::pf_plan) {
        let start = self.0.len();
        self.words(&[plan.abi_version, plan.bytes, plan.arch, plan.kernel]);
        self.words(&plan.axes);
        self.words(&plan.tunables);
        for window in &plan.windows {
            self.words(&[window.offset, window.stage_bytes, window.stages, window.reserved]);
        }
        self.words(&[plan.window_count, plan.vtcm_bytes]);
        self.long(plan.hash);
        debug_assert_eq!(self.0.len() - start, size_of::<abi::pf_plan>());
    }

    fn request(&mut self, request: &abi::pf_request) {
        let start = self.0.len();
        self.words(&[request.abi_version, request.bytes, request.kernel, request.id]);
        self.words(&request.axes);
        self.words(&[request.row_begin, request.row_end]);
        for operand in &request.operands {
            self.long(operand.address);
            self.long(operand.bytes);
            self.words(&[operand.rows, operand.cols, operand.row_stride, operand.reserved]);
        }
        self.long(request.row_exponents);
        self.long(request.row_flags);
        debug_assert_eq!(self.0.len() - start, size_of::<abi::pf_request>());
    }
}
