//! The emitted kernels really run, and a wrong one does not get far.
//!
//! A library is compiled with one defect in one kernel and loaded in place of the built-in one. The start-up check must send
//! that direction to the CPU; with the check off the answer must change. The same library without a defect must pass both.

use hexagon_runtime::device::Compiled;
use hexagon_runtime::{DeviceKind, Direction, Precision, Runtime, RuntimeBuilder, RuntimeConfig, WeightData};
use kernel_gen::ir::{AxisId, OperandRole, WindowId};
use kernel_gen::{Defect, Verified, library, verify as check_kernel};
use verify::family::Random;

const ROWS: usize = 70;
const OUT: usize = 360;
const IN: usize = 330;
/// Splits the contraction, so that partial sums accumulate.
const SMALL_VTCM: u32 = 128 << 10;
/// Holds a weight whole, so that a block has several tiles along every axis.
const WHOLE_VTCM: u32 = 8 << 20;

fn kernels(mutate: impl Fn(&str) -> Option<Defect>) -> Vec<Verified> {
    library::all()
        .iter()
        .map(|kernel| {
            let verified = check_kernel(kernel).expect("a library kernel");
            match mutate(&kernel.name) {
                Some(defect) => verified.with_defect(defect),
                None => verified,
            }
        })
        .collect()
}

struct Answer {
    forward: Vec<f32>,
    input_grad: Vec<f32>,
    fallbacks: u64,
    rows_to_cpu: u64,
    table: String,
}

fn run(library: Option<&Compiled>, precision: Precision, vtcm_bytes: u32, startup_check: bool) -> Answer {
    let mut random = Random::new(7);
    let weights: Vec<f32> = (0..OUT * IN).map(|_| random.signed()).collect();
    let mut builder = RuntimeBuilder::new(RuntimeConfig {
        device: DeviceKind::Model { checked: false },
        precision,
        threads: 2,
        token_buckets: vec![128],
        vtcm_bytes,
        kernel_library: library.map(Compiled::path),
        startup_check,
        ..RuntimeConfig::default()
    });
    let id = builder.add("w", OUT, IN, WeightData::F32(&weights)).expect("a weight");
    let mut runtime: Runtime = builder.start().expect("a runtime");
    let mut answer = |direction: Direction, length: usize, width: usize| {
        let mut random = Random::new(9);
        let input: Vec<f32> = (0..ROWS * length).map(|_| random.signed()).collect();
        let mut out = vec![0.0; ROWS * width];
        runtime.run(id, direction, &input, ROWS, &mut out).expect("a product");
        out
    };
    let forward = answer(Direction::Forward, IN, OUT);
    let input_grad = answer(Direction::InputGrad, OUT, IN);
    Answer {
        forward,
        input_grad,
        fallbacks: runtime.counters().fallbacks,
        rows_to_cpu: runtime.counters().rows_to_cpu,
        table: runtime.plan_table().to_string(),
    }
}

fn far(a: &[f32], b: &[f32]) -> bool {
    let largest = a.iter().fold(0f32, |m, x| m.max(x.abs()));
    // NaN from a defect counts as far.
    !a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 5e-3 * largest)
}

/// Tries `defect` in `kernel`.
fn refused(kernel: &str, precision: Precision, defect: Defect) {
    let library = Compiled::new(&kernels(|name| (name == kernel).then_some(defect)), false).expect("it compiles");
    let vtcm = if defect == Defect::StoredPartial { SMALL_VTCM } else { WHOLE_VTCM };
    let right = run(None, precision, vtcm, true);
    let checked = run(Some(&library), precision, vtcm, true);
    assert_eq!(checked.fallbacks, 1, "{kernel} with {defect:?} passed the start-up check:\n{}", checked.table);
    assert!(checked.table.contains("unsupported") || checked.table.contains("CPU"), "{}", checked.table);
    assert!(!far(&right.forward, &checked.forward) && !far(&right.input_grad, &checked.input_grad));
    let unchecked = run(Some(&library), precision, vtcm, false);
    assert_eq!(unchecked.fallbacks, 0);
    // Garbage scales make every partial sum overflow: then the retry rule sends the rows to the CPU, and the counter says so.
    assert!(
        far(&right.forward, &unchecked.forward)
            || far(&right.input_grad, &unchecked.input_grad)
            || unchecked.rows_to_cpu > 0,
        "{kernel} with {defect:?} gives the right answer: the kernel did not run"
    );
}

#[test]
fn library_without_defect_passes_and_gives_the_same_bits() {
    let library = Compiled::new(&kernels(|_| None), false).expect("it compiles");
    for precision in [Precision::F16, Precision::Q8] {
        let (right, loaded) =
            (run(None, precision, SMALL_VTCM, true), run(Some(&library), precision, SMALL_VTCM, true));
        assert_eq!(loaded.fallbacks, 0, "{}", loaded.table);
        assert_eq!(right.forward, loaded.forward);
        assert_eq!(right.input_grad, loaded.input_grad);
    }
}

#[test]
fn every_kernel_with_a_short_loop_a_wide_stride_or_a_lost_tile_is_refused() {
    for kernel in library::all() {
        let precision = if kernel.name.ends_with("q8") { Precision::Q8 } else { Precision::F16 };
        let output = kernel.operands.iter().find(|o| o.role == OperandRole::Output).expect("an output");
        let contraction =
            (0..kernel.axes.len()).map(AxisId).find(|axis| !output.axes.contains(axis)).expect("a contraction axis");
        for defect in [
            Defect::ShortLoop(contraction),
            Defect::WideStride(WindowId(1)),
            Defect::DroppedTile,
            Defect::StoredPartial,
        ] {
            refused(&kernel.name, precision, defect);
        }
    }
}

#[test]
fn a_file_that_is_no_kernel_library_is_an_error_that_says_so() {
    let mut builder = RuntimeBuilder::new(RuntimeConfig {
        kernel_library: Some("no-such-file.so".into()),
        ..RuntimeConfig::default()
    });
    builder.add("w", 32, 32, WeightData::F32(&[0.5; 1024])).expect("a weight");
    let error = builder.start().err().expect("refused").to_string();
    assert!(error.contains("no-such-file.so") && error.contains("shared object"), "{error}");
}
