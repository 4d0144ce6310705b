//! Every compiled functional model gives the same bits, whole and by rows.

use hexagon_runtime::device::{KernelPlan, ModelPool, Product, Variant, WeightOperand};
use hexagon_runtime::{Arch, Overflow};
use kernel_gen::{Kernel, library};

const AXES: [u32; 3] = [70, 90, 130];

#[repr(C, align(128))]
#[derive(Clone)]
struct Aligned<T, const N: usize>([T; N]);

fn noise(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Weight bytes of every kind: any int8, and FP16 between 2^-6 and 2.
fn weight_bytes(q8: bool) -> Box<Aligned<u8, 65536>> {
    let mut bytes = Box::new(Aligned([0u8; 65536]));
    let mut state = 7;
    let half =
        |state: &mut u64| (0x2400 + (noise(state) % 0x1c00) as u16 + ((noise(state) & 1) << 15) as u16).to_le_bytes();
    for chunk in bytes.0.chunks_exact_mut(if q8 { 1088 } else { 2048 }) {
        for (index, pair) in chunk.chunks_exact_mut(2).enumerate() {
            let value = if q8 && index < 512 { (noise(&mut state) as u16).to_le_bytes() } else { half(&mut state) };
            pair.copy_from_slice(&value);
        }
    }
    bytes
}

fn run(
    variant: Variant,
    [threads, workers]: [u32; 2],
    overflow: Overflow,
    kernel: &Kernel,
    exponent: i32,
) -> (Vec<u32>, Vec<u8>) {
    let verified = kernel_gen::verify(kernel).unwrap();
    // Small tiles: several blocks on every axis.
    let plan = kernel_gen::Plan::with_tunables(&verified, Arch::V79, &AXES, 8 << 20, &[64, 64, 64]).unwrap();
    let q8 = kernel.name.ends_with("q8");
    let forward = kernel.name.starts_with("forward");
    let (from, to) = if forward { (AXES[2], AXES[1]) } else { (AXES[1], AXES[2]) };
    let mut state = 11;
    let mut input = Box::new(Aligned([0.0f32; 70 * 160]));
    input.0.fill_with(|| noise(&mut state) as f32 / (1u64 << 30) as f32 - 1.0);
    let mut output = Box::new(Aligned([0.0f32; 70 * 160]));
    let bytes = weight_bytes(q8);
    // 90 × 130 is 96 × 160 padded to tiles, and 96 × 192 padded to FP16 vectors.
    let (row_stride, used) = if q8 { (5 * 1088, 3 * 5 * 1088) } else { (192 * 2, 96 * 192 * 2) };
    let weight = WeightOperand { bytes: &bytes.0[..used], rows: 96, cols: if q8 { 160 } else { 192 }, row_stride };
    let exponents: Vec<i32> = (0..70).map(|row| exponent + row % 5).collect();
    let mut flags = vec![0u8; 70];
    let mut pool = ModelPool::with_workers(variant, threads as usize, 8 << 20, overflow, workers).unwrap();
    pool.run(Product {
        plan: &KernelPlan::from(&plan),
        axes: AXES,
        rows: 0..AXES[0],
        input: &input.0,
        input_width: from,
        input_stride: 160,
        weight,
        output: &mut output.0,
        output_width: to,
        output_stride: 160,
        exponents: &exponents,
        flags: &mut flags,
    })
    .unwrap();
    assert!(pool.counts().packets > 0 && pool.counts().dma_bytes > 0);
    let rows = output.0.chunks_exact(160).flat_map(|row| &row[..to as usize]);
    (rows.map(|x| x.to_bits()).collect(), flags)
}

#[test]
fn variants_threads_and_workers_agree() {
    for kernel in library::all() {
        for exponent in [-2, 5] {
            for overflow in Overflow::ALL {
                let expected = run(Variant::Checked, [1, 4], overflow, &kernel, exponent);
                for variant in Variant::available() {
                    for threads in [[1, 1], [1, 3], [2, 8]] {
                        let got = run(variant, threads, overflow, &kernel, exponent);
                        assert_eq!(got.1, expected.1, "{} {variant:?} flags", kernel.name);
                        // Numbers in a flagged row mean nothing: it is sent again.
                        let width = got.0.len() / 70;
                        let differs = |at: &usize| expected.1[at / width] == 0 && got.0[*at] != expected.0[*at];
                        let stop = (0..got.0.len()).find(differs);
                        assert_eq!(
                            stop, None,
                            "{} {variant:?} {threads:?} threads and workers, 2^{exponent}",
                            kernel.name
                        );
                    }
                }
                if kernel.name.ends_with("q8") {
                    let flagged = expected.1.iter().filter(|flag| **flag == 1).count();
                    assert_eq!(flagged > 0, exponent == 5, "{}: {flagged} rows at 2^{exponent}", kernel.name);
                    assert!(flagged < 70, "{}: nothing is left to compare", kernel.name);
                }
            }
        }
    }
}
