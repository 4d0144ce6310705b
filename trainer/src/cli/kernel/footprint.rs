//! The memory a run takes, known before it is taken.

use kernel_gen::Kernel;
use kernel_gen::ir::{Element, OperandRole, TILE};

use super::KernelError;
use crate::memory::available;

/// Refuses a run whose operands and reference are larger than the memory that is available.
pub(super) fn check(kernel: &Kernel, extents: &[usize]) -> Result<(), KernelError> {
    let needed = bytes(kernel, extents);
    // Where the system does not say, what an address can reach.
    let available = available().unwrap_or(isize::MAX as u64);
    if needed <= u128::from(available) {
        return Ok(());
    }
    Err(KernelError::Memory { kernel: kernel.name.clone(), needed, available })
}

/// Bytes at the peak of a run: each operand as it lies in DDR, twice (laid out, then placed where the device reads it); in
/// f64 as the reference reads it, inputs once more as they are multiplied; and the plain f32 values of the operand that is
/// being laid out.
fn bytes(kernel: &Kernel, extents: &[usize]) -> u128 {
    let (mut held, mut largest) = (0, 0);
    for operand in &kernel.operands {
        let [rows, cols] = operand.shape(extents).map(|extent| extent as u128);
        let tile = u128::from(TILE);
        let in_ddr = match operand.element {
            Element::F32 => rows * (cols * 4).next_multiple_of(128),
            // Rows start on a vector; packed tiles have at most a byte and a scale for an element; whole tiles are stored.
            _ => rows.next_multiple_of(tile) * cols.next_multiple_of(tile) * 2,
        };
        let reference = if operand.role == OperandRole::Output { 8 } else { 16 };
        held += 2 * in_ddr + reference * rows * cols;
        largest = largest.max(4 * rows * cols);
    }
    held + largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operand_counts_as_often_as_it_is_held() {
        let kernel = kernel_gen::library::forward_q8();
        // x 2·3, w 5·3, y 2·5, and the values of w.
        let (x, w, y) = (2 * 256 + 6 * 16, 2 * 2048 + 15 * 16, 2 * 256 + 10 * 8);
        assert_eq!(bytes(&kernel, &[2, 5, 3]), x + w + y + 60);
    }

    #[test]
    fn the_largest_shape_of_all_does_not_overflow() {
        let kernel = kernel_gen::library::forward_f16_column_affine();
        assert!(bytes(&kernel, &[usize::MAX >> 8; 3]) > u128::from(u64::MAX));
    }
}
