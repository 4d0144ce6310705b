//! One session of the NPU: devices, and the weights they can see.

use std::ops::Range;

use crate::device::{DeviceFault, ModelPool, Product};
use crate::projection::Projection;

/// A session answers products with the weights it maps and with no other: its devices would not find them.
pub(crate) struct Session {
    pool: ModelPool,
    /// Addresses of the weights mapped, in ascending order.
    mapped: Vec<Range<usize>>,
}

impl Session {
    /// Maps the weights of `projections`, which stay where they are for as long as the session lives.
    pub fn new<'a>(pool: ModelPool, projections: impl Iterator<Item = &'a Projection>) -> Session {
        let operands = projections.filter_map(|projection| projection.weight.operand());
        let mut mapped: Vec<Range<usize>> = operands.map(|operand| addresses(operand.bytes)).collect();
        mapped.sort_by_key(|range| range.start);
        Session { pool, mapped }
    }

    /// Computes one product.
    ///
    /// # Errors
    /// A weight that is not mapped; what the device says.
    pub fn run(&mut self, product: Product<'_>) -> Result<(), DeviceFault> {
        let weight = addresses(product.weight.bytes);
        if self.mapped.binary_search_by_key(&weight.start, |range| range.start).is_err() {
            return Err(DeviceFault::Lost("the weight belongs to another NPU session".to_owned()));
        }
        self.pool.run(product)
    }
}

fn addresses(bytes: &[u8]) -> Range<usize> {
    let start = bytes.as_ptr().addr();
    start..start + bytes.len()
}
