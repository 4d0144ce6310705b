//! How much of everything a plan and a request carry, and what HMX takes.

/// `PF_MAX_AXES`.
pub const MAX_AXES: usize = 4;
/// `PF_MAX_TUNABLES`.
pub const MAX_TUNABLES: usize = 8;
/// `PF_MAX_WINDOWS`.
pub const MAX_WINDOWS: usize = 8;
/// `PF_MAX_OPERANDS`.
pub const MAX_OPERANDS: usize = 6;
/// Most buffers of one window.
pub const MAX_STAGES: u32 = 8;
/// Largest extent of an axis. Block starts, padded extents and byte offsets of a row stay far from `u32` overflow in C.
pub const MAX_EXTENT: u32 = 1 << 24;
/// The magnitude from which a partial sum counts as overflowed.
pub const GUARD: u32 = 60_000;
