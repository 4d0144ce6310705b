//! Quantised layouts in DDR: the quantisation rule, the bytes, and that Q8_0 in blocks and in tiles is one weight.

use half::f16;
use hexagon_runtime::Overflow;
use hexagon_runtime::device::Compiled;
use hexagon_runtime::device::{Call, DdrOperand, LoadedModel, ModelPool, Variant};
use kernel_gen::ddr::{DdrImage, DdrLayouts};
use kernel_gen::{Arch, Kernel, Plan, library, verify as check_kernel};
use verify::effective::{q4_weights, q8_weights};
use verify::family::Random;

const SHAPES: [(usize, usize); 4] = [(1, 1), (33, 31), (64, 100), (5, 96)];

fn image(kernel: &Kernel, operand: usize, values: &[f32], [rows, cols]: [usize; 2]) -> DdrImage {
    DdrLayouts::standard().of(&kernel.operands[operand]).expect("known").image(values, rows, cols)
}

fn values(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.signed()).collect()
}

#[test]
fn effective_weights_follow_the_quantisation_rule() {
    let mut random = Random::new(11);
    for (rows, cols) in SHAPES {
        let values = values(&mut random, rows * cols);
        let effective = |kernel: Kernel| image(&kernel, 1, &values, [rows, cols]).effective;
        assert_eq!(effective(library::forward_q8()), q8_weights(&values, cols));
        assert_eq!(effective(library::forward_q8_blocks()), q8_weights(&values, cols));
        assert_eq!(effective(library::forward_q4()), q4_weights(&values, cols));
    }
}

#[test]
fn bytes_are_where_the_formats_say() {
    let mut random = Random::new(12);
    for (rows, cols) in SHAPES {
        let values = values(&mut random, rows * cols);
        let image = |kernel: Kernel| image(&kernel, 1, &values, [rows, cols]);
        let (tiles, blocks, q4) =
            (image(library::forward_q8()), image(library::forward_q8_blocks()), image(library::forward_q4()));
        let half = |bytes: &[u8], at: usize| f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f64();
        for (n, k) in (0..rows).flat_map(|n| (0..cols).map(move |k| (n, k))) {
            let value = |q: f64, d: f64| f16::from_f64(q * d).to_f64();
            let (row, col) = (n % 32, k % 32);

            let block = &blocks.bytes[n * blocks.row_stride as usize + k / 32 * 34..][..34];
            let in_block = value(f64::from(block[2 + col].cast_signed()), half(block, 0));
            let tile = &tiles.bytes[n / 32 * tiles.row_stride as usize + k / 32 * 1088..][..1088];
            let in_tile =
                value(f64::from(tile[(col >> 1) * 64 + 2 * row + (col & 1)].cast_signed()), half(tile, 1024 + 2 * row));
            assert_eq!([in_block, in_tile], [blocks.effective[n * cols + k]; 2], "({n}, {k}) of {rows}x{cols}");

            let tile = &q4.bytes[n / 32 * q4.row_stride as usize + k / 32 * 576..][..576];
            let nibble = tile[(col >> 1) * 32 + row] >> (4 * (col & 1)) & 15;
            let in_tile = value(f64::from(nibble) - 8.0, half(tile, 512 + 2 * row));
            assert_eq!(in_tile, q4.effective[n * cols + k], "({n}, {k}) of {rows}x{cols}");
        }
    }
}

/// The output of `kernel` for these token rows and weights under one tiling.
fn output(kernel: &Kernel, checked: bool, x: &[f32], w: &[f32], extents: [usize; 3]) -> Vec<u8> {
    let verified = check_kernel(kernel).expect("a library kernel");
    let compiled = Compiled::new(std::slice::from_ref(&verified), checked).expect("it compiles");
    let model = LoadedModel::open(&compiled.path()).expect("it loads");
    let mut pool = ModelPool::open(Variant::Loaded(model), 1, 1 << 20, Overflow::default()).expect("a model");
    let [m, n, k] = extents;
    let axes = extents.map(|extent| extent as u32);
    let plan = Plan::with_tunables(&verified, Arch::V79, &axes, 1 << 20, &[32, 64, 96]).expect("it fits");
    let images =
        [image(kernel, 0, x, [m, k]), image(kernel, 1, w, [n, k]), image(kernel, 2, &vec![0.0; m * n], [m, n])];
    let operands = images.iter().map(|i| DdrOperand::new(&i.bytes, i.rows, i.cols, i.row_stride)).collect();
    let mut call = Call::new(&plan, &axes, operands).expect("a call");
    pool.call(&mut call, 0..axes[0]).expect("no trap");
    call.operands()[2].bytes().to_vec()
}

#[test]
fn blocks_and_tiles_of_one_weight_give_the_same_bits() {
    let extents = [37, 75, 224];
    let mut random = Random::new(13);
    let (x, w) = (values(&mut random, extents[0] * extents[2]), values(&mut random, extents[1] * extents[2]));
    for checked in [true, false] {
        let tiles = output(&library::forward_q8(), checked, &x, &w, extents);
        let blocks = output(&library::forward_q8_blocks(), checked, &x, &w, extents);
        assert!(tiles.iter().any(|&byte| byte != 0));
        assert_eq!(tiles, blocks, "checked: {checked}");
    }
}
