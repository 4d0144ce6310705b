//! The emitted kernels on both functional models: exact on whole numbers whatever the tiles, and a defect shows.

mod authored;
mod model;

use kernel_gen::{Arch, Defect, Kernel, Plan, Verified, ir, library, plan, verify};
use model::{Case, Model, Outcome};
use std::sync::LazyLock;

const VTCM: u32 = 8 << 20;

static CHECKED: LazyLock<Model> = LazyLock::new(|| Model::build("checked", true, &verified()));
static FAST: LazyLock<Model> = LazyLock::new(|| Model::build("fast", false, &verified()));

/// Small whole numbers, the same on every run.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 24) % 7) as f32 - 3.0
    };
    (0..count).map(|_| next()).collect()
}

struct Problem {
    axes: [u32; 3],
    input: Vec<f32>,
    weight: Vec<f32>,
    columns: Vec<Vec<f32>>,
    exponents: Vec<i32>,
    expected: Vec<f32>,
}

impl Problem {
    fn of(kernel: &Kernel, axes: [u32; 3]) -> Problem {
        let extents = axes.map(|e| e as usize);
        let size = |role| {
            let operand = kernel.operands.iter().find(|o| o.role == role).unwrap();
            operand.axes.map(|a| extents[a.0])
        };
        let [m, width] = size(ir::OperandRole::Activation);
        let [n, k] = size(ir::OperandRole::Weight);
        let [rows, cols] = size(ir::OperandRole::Output);
        let (input, weight) = (numbers(m * width, 1), numbers(n * k, 2));
        let exact = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<_>>();
        let (exact_input, exact_weight) = (exact(&input), exact(&weight));
        let columns: Vec<Vec<f32>> = kernel
            .operands
            .iter()
            .enumerate()
            .filter(|(_, o)| o.role == ir::OperandRole::Column)
            .map(|(index, o)| numbers(o.shape(&extents)[1], 3 + index as u32))
            .collect();
        let exact_columns: Vec<_> = columns.iter().map(|c| exact(c)).collect();
        let mut operands: Vec<&[f64]> = vec![&exact_input, &exact_weight, &[]];
        operands.extend(exact_columns.iter().map(Vec::as_slice));
        let case = ir::ReferenceCase::new(kernel, &extents, &operands).unwrap();
        let mut expected = Vec::new();
        for i in 0..rows {
            expected.extend((0..cols).map(|j| kernel.reference.element(&case, i, j) as f32));
        }
        let exponents = (0..m).map(|row| row as i32 % 4 - 1).collect();
        Problem { axes, input, weight, columns, exponents, expected }
    }

    fn run(&self, model: &Model, kernel: &Kernel, plan: &Plan, rows: std::ops::Range<u32>) -> Outcome {
        let Problem { axes, input, weight, columns, exponents, .. } = self;
        model.run(kernel.on(plan.arch), &Case { plan, axes: *axes, rows, input, weight, columns, exponents })
    }
}

/// The library and what a kernel author might add.
fn verified() -> Vec<Verified> {
    let kernels = library::all().into_iter().chain(library::extra()).chain(authored::all());
    kernels.map(|kernel| verify(&kernel).unwrap_or_else(|found| panic!("{found:?}"))).collect()
}

/// Every legal kind of tiling: what the planner takes, many small blocks, uneven ones.
/// The shape, with whole blocks where an operand lies in blocks.
fn whole_blocks(kernel: &Kernel, [m, n, k]: [u32; 3]) -> [u32; 3] {
    let blocks = kernel.operands.iter().any(|o| matches!(o.layout, ir::OperandLayout::Blocks(_)));
    [m, n, if blocks { k.next_multiple_of(32) } else { k }]
}

fn plans(kernel: &Verified, axes: [u32; 3]) -> Vec<Plan> {
    let mut plans = vec![plan::solve(kernel, Arch::V79, &axes, VTCM).unwrap()];
    for tiles in [[32, 32, 32], [64, 32, 96], [32, 96, 64]] {
        plans.push(Plan::with_tunables(kernel, Arch::V81, &axes, VTCM, &tiles).unwrap());
    }
    plans
}

#[test]
fn whole_numbers_are_exact_under_every_plan() {
    let kernels = verified();
    for kernel in &kernels {
        for axes in [[1, 1, 1], [33, 65, 97], [70, 96, 128], [5, 100, 31]] {
            let axes = whole_blocks(kernel.kernel(), axes);
            let problem = Problem::of(kernel.kernel(), axes);
            for plan in plans(kernel, axes) {
                for model in [&*CHECKED, &*FAST] {
                    let outcome = problem.run(model, kernel.kernel(), &plan, 0..axes[0]);
                    assert_eq!(outcome.status, 0, "{plan}: {}", outcome.fault);
                    assert_eq!(outcome.output, problem.expected, "{plan}");
                    assert!(outcome.flags.iter().all(|&f| f == 0), "{plan}");
                }
            }
        }
    }
}

#[test]
fn a_row_range_leaves_other_rows_alone() {
    let kernels = verified();
    for kernel in &kernels {
        let axes = [100, 64, 64];
        let problem = Problem::of(kernel.kernel(), axes);
        let plan = plan::solve(kernel, Arch::V79, &axes, VTCM).unwrap();
        let outcome = problem.run(&CHECKED, kernel.kernel(), &plan, 32..80);
        assert_eq!(outcome.status, 0, "{}", outcome.fault);
        for (row, (got, want)) in outcome.output.chunks(64).zip(problem.expected.chunks(64)).enumerate() {
            if (32..80).contains(&row) {
                assert_eq!(got, want, "{plan}, row {row}");
            } else {
                assert!(got.iter().all(|x| x.is_nan()), "{plan} wrote row {row}");
            }
        }
    }
}

#[test]
fn requests_a_kernel_cannot_serve_are_refused() {
    let kernels = verified();
    for kernel in &kernels {
        let axes = [64, 64, 64];
        let problem = Problem::of(kernel.kernel(), axes);
        let plan = plan::solve(kernel, Arch::V79, &axes, VTCM).unwrap();
        assert_eq!(problem.run(&CHECKED, kernel.kernel(), &plan, 16..64).status, 3, "{plan}: half a strip");
        let mut zero_tile = plan.clone();
        zero_tile.tunables[1].value = 0;
        assert_eq!(problem.run(&CHECKED, kernel.kernel(), &zero_tile, 0..64).status, 2, "{plan}: a tile of zero");
        let mut stages = plan.clone();
        stages.windows[1].stages = 4;
        assert_eq!(problem.run(&CHECKED, kernel.kernel(), &stages, 0..64).status, 2, "{plan}: other stages");
    }
}

#[test]
fn every_defect_changes_the_result() {
    let pipelined = ir::WindowId(1);
    for defect in [
        Defect::ShortLoop(ir::AxisId(0)),
        Defect::ShortLoop(ir::AxisId(1)),
        Defect::ShortLoop(ir::AxisId(2)),
        Defect::WideStride(pipelined),
        Defect::DroppedTile,
        Defect::StoredPartial,
    ] {
        let kernels: Vec<_> =
            library::all().iter().chain(&library::extra()).map(|k| verify(k).unwrap().with_defect(defect)).collect();
        let name = format!("{defect:?}").replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let model = Model::build(&name, false, &kernels);
        for kernel in &kernels {
            let axes = [70, 96, 128];
            let problem = Problem::of(kernel.kernel(), axes);
            let plan = Plan::with_tunables(kernel, Arch::V79, &axes, VTCM, &[64, 64, 64]).unwrap();
            let outcome = problem.run(&model, kernel.kernel(), &plan, 0..axes[0]);
            assert_eq!(outcome.status, 0, "{defect:?}: {plan}");
            assert_ne!(outcome.output, problem.expected, "{defect:?} went unseen: {plan}");
        }
    }
}

#[test]
fn a_trap_names_step_block_stage_and_worker() {
    let kernel = verify(&library::forward_q8()).unwrap().with_defect(Defect::WideStride(ir::WindowId(1)));
    let model = Model::build("trap", true, std::slice::from_ref(&kernel));
    let axes = [70, 96, 128];
    let problem = Problem::of(kernel.kernel(), axes);
    let plan = Plan::with_tunables(&kernel, Arch::V79, &axes, VTCM, &[64, 64, 64]).unwrap();
    let outcome = problem.run(&model, kernel.kernel(), &plan, 0..axes[0]);
    assert_eq!(outcome.status, 4);
    let place = "kernel-gen/src/library/forward_q8.rs:31:25: kernel `forward_q8`, step `dequantise wb` at m=0, k=0, n=0, stage=0, worker=0: ";
    assert!(outcome.fault.starts_with(place), "{}", outcome.fault);
    assert!(outcome.fault.contains(" bytes at VTCM + 0x"), "{}", outcome.fault);
}
