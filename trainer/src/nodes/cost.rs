//! What computing a node's output again costs, against what keeping it costs.

use std::ops::Add;

/// Cost of one node for one token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Floating-point operations on the CPU to compute the output again.
    pub flops: u64,
    /// Bytes to keep the output instead.
    pub bytes: u64,
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost { flops: self.flops + other.flops, bytes: self.bytes + other.bytes }
    }
}
