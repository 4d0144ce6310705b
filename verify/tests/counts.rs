//! The counting walk against what the functional model counted in a real run: equal, to the byte.

use hexagon_runtime::Overflow;
use hexagon_runtime::device::{Call, DdrOperand, ModelPool, Variant};
use kernel_gen::cost::cost;
use kernel_gen::ddr::DdrLayouts;
use kernel_gen::{Arch, Plan, Verified, library, plan, verify as check_kernel};

/// Runs token rows `rows` of `kernel` on zeros and compares.
fn compare(kernel: &Verified, plan: &Plan, tokens: u32, rows: std::ops::Range<u32>) {
    let mut axes: Vec<u32> = plan.axes.iter().map(|a| a.extent).collect();
    axes[0] = tokens;
    let operands = kernel.kernel().operands.iter().map(|operand| {
        let [height, width] = operand.axes.map(|axis| axes[axis.0] as usize);
        let image = DdrLayouts::standard().of(operand).unwrap().image(&vec![0.0; height * width], height, width);
        DdrOperand::new(&image.bytes, image.rows, image.cols, image.row_stride)
    });
    let mut call = Call::new(plan, &axes, operands.collect()).unwrap();
    for variant in [Variant::Checked, Variant::select(false)] {
        let mut pool = ModelPool::open(variant, 1, 8 << 20, Overflow::default()).unwrap();
        pool.call(&mut call, rows.clone()).unwrap_or_else(|fault| panic!("{plan}: {fault}"));
        let (ran, walked) = (pool.counts(), cost(kernel, plan, rows.clone()).total);
        assert_eq!(
            (ran.packets, ran.tiles, ran.dma_bytes, ran.dma_descriptors, ran.strips),
            (walked.packets, walked.tiles, walked.dma_bytes, walked.dma_descriptors, walked.strips),
            "{plan}, rows {rows:?}"
        );
    }
}

#[test]
fn walk_counts_what_the_model_counts() {
    for kernel in library::all() {
        let kernel = check_kernel(&kernel).unwrap();
        for shape in [[1, 1, 1], [33, 64, 31], [100, 350, 190], [70, 40, 1100], [40, 1100, 70]] {
            for vtcm in [64 << 10, 128 << 10, 8 << 20] {
                let plan = plan::solve(&kernel, Arch::V79, &shape, vtcm).unwrap();
                compare(&kernel, &plan, shape[0], 0..shape[0]);
            }
            for tiles in [[32, 32, 32], [64, 32, 96], [32, 96, 64], [96, 256, 32]] {
                let plan = Plan::with_tunables(&kernel, Arch::V81, &shape, 8 << 20, &tiles).unwrap();
                compare(&kernel, &plan, shape[0], 0..shape[0]);
            }
        }
        // A bucket that is not full, and a range that begins inside it.
        let plan = Plan::with_tunables(&kernel, Arch::V79, &[256, 100, 100], 8 << 20, &[64, 64, 64]).unwrap();
        compare(&kernel, &plan, 170, 32..170);
        compare(&kernel, &plan, 170, 64..64);
    }
}
