//! Plans no planner makes: a device refuses windows that alias, are misaligned or leave VTCM, on both models.

use hexagon_runtime::Overflow;
use hexagon_runtime::device::{Call, DdrOperand, DeviceFault, ModelPool, Variant};
use kernel_gen::ddr::DdrLayouts;
use kernel_gen::{Arch, Plan, library, plan, verify as check_kernel};

const EXTENTS: [usize; 3] = [40, 64, 96];
const VTCM_BYTES: u32 = 1 << 20;

/// What is wrong, and how it is made so.
type Alteration = (&'static str, fn(&mut Plan));

fn planned() -> Plan {
    let kernel = check_kernel(&library::forward_q8()).expect("sound");
    plan::solve(&kernel, Arch::V79, &EXTENTS.map(|e| e as u32), VTCM_BYTES).expect("it fits")
}

fn run(plan: &Plan, checked: bool) -> Result<(), DeviceFault> {
    let layouts = DdrLayouts::standard();
    let operand = |operand: &kernel_gen::ir::Operand| {
        let [rows, cols] = operand.shape(&EXTENTS);
        let image = layouts.of(operand).expect("known").image(&vec![1.0; rows * cols], rows, cols);
        DdrOperand::new(&image.bytes, image.rows, image.cols, image.row_stride)
    };
    let operands = library::forward_q8().operands.iter().map(operand).collect();
    let mut call = Call::new(plan, &EXTENTS.map(|e| e as u32), operands)?;
    let mut pool = ModelPool::open(Variant::select(checked), 1, VTCM_BYTES, Overflow::default()).expect("a model");
    pool.call(&mut call, 0..EXTENTS[0] as u32).map(|_| ())
}

#[test]
fn windows_of_a_plan_must_be_apart_aligned_and_inside() {
    let alterations: [Alteration; 5] = [
        ("two windows in one place", |plan| plan.windows[1].offset = plan.windows[0].offset),
        ("a window that begins inside another", |plan| plan.windows[2].offset -= 2048),
        ("a window between two tiles", |plan| plan.windows[3].offset += 128),
        ("a stage that is not whole tiles", |plan| plan.windows[1].stage_bytes += 128),
        ("more stages than there is room for", |plan| plan.windows[3].stages = 400),
    ];
    for checked in [true, false] {
        run(&planned(), checked).expect("the plan as it was made");
        for (what, alter) in alterations {
            let mut plan = planned();
            alter(&mut plan);
            assert!(matches!(run(&plan, checked), Err(DeviceFault::BadPlan)), "{what}, checked: {checked}");
        }
    }
}
