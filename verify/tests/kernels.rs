//! The four library kernels, as emitted C on the functional model, against the f64 reference.
//!
//! Each case runs three times: on the checked model, on the fast one with one thread, and on the fast one with three. The
//! three must agree to the bit, and the answer must lie within the tolerance of the reference.

use hexagon_runtime::{DeviceKind, Direction, Precision, Runtime, RuntimeBuilder, RuntimeConfig, WeightData};
use kernel_gen::{Arch, library, plan, verify as check_kernel};
use proptest::prelude::*;
use verify::cross_check::cases_asked;
use verify::effective::{f16_weights, q8_weights};
use verify::product::Product;
use verify::strategy::{Case, case};

fn runtime(case: &Case, weights: &[f32], checked: bool, threads: usize) -> (Runtime, hexagon_runtime::ProjectionId) {
    let mut builder = RuntimeBuilder::new(RuntimeConfig {
        device: DeviceKind::Model { checked },
        precision: case.precision,
        threads,
        token_buckets: vec![case.rows],
        vtcm_bytes: case.vtcm_bytes,
        overflow: case.overflow,
        startup_check: false,
        ..RuntimeConfig::default()
    });
    let id = builder.add("w", case.out, case.in_, WeightData::F32(weights)).expect("a legal weight");
    (builder.start().expect("a runtime"), id)
}

fn answer(case: &Case, weights: &[f32], input: &[f32], checked: bool, threads: usize) -> Vec<f32> {
    let (mut runtime, id) = runtime(case, weights, checked, threads);
    let width = match case.direction {
        Direction::Forward => case.out,
        Direction::InputGrad => case.in_,
    };
    let mut out = vec![f32::NAN; case.rows * width];
    runtime.run(id, case.direction, input, case.rows, &mut out).expect("a product");
    let counters = runtime.counters();
    assert_eq!((counters.fallbacks, counters.rows_to_cpu), (0, 0), "answered by the device: {}", runtime.plan_table());
    out
}

/// Contraction elements per partial sum in the plan the runtime makes for this case.
fn contraction_tile(case: &Case) -> usize {
    let (kernel, tunable) = match (case.direction, case.precision) {
        (Direction::Forward, Precision::F16) => (library::forward_f16(), "kc"),
        (Direction::Forward, _) => (library::forward_q8(), "kc"),
        (Direction::InputGrad, Precision::F16) => (library::input_grad_f16(), "nc"),
        (Direction::InputGrad, _) => (library::input_grad_q8(), "nc"),
    };
    let verified = check_kernel(&kernel).expect("a library kernel");
    let axes = [case.rows as u32, case.out as u32, case.in_ as u32];
    let plan = plan::solve(&verified, Arch::V79, &axes, case.vtcm_bytes).expect("a plan");
    plan.tunable(tunable).expect("the contraction tile") as usize
}

fn check(case: Case) -> Result<(), TestCaseError> {
    let (weights, input) = (case.weights(), case.input());
    let effective = match case.precision {
        Precision::Q8 => q8_weights(&weights, case.in_),
        _ => f16_weights(&weights),
    };
    let product = Product {
        direction: case.direction,
        out: case.out,
        in_: case.in_,
        weights: &effective,
        input: &input,
        contraction_tile: contraction_tile(&case),
    };
    let checked = answer(&case, &weights, &input, true, 1);
    for (row, columns) in checked.chunks(product.width()).enumerate() {
        if let Err(text) = product.check(row, columns) {
            return Err(TestCaseError::fail(text));
        }
    }
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    for threads in [1, 3] {
        let fast = answer(&case, &weights, &input, false, threads);
        prop_assert_eq!(bits(&checked), bits(&fast), "checked and fast ({} threads) differ", threads);
    }
    Ok(())
}

/// Cases per kernel; `PERMAFROST_CASES` asks for a long night.
fn config() -> ProptestConfig {
    let cases = cases_asked(96).expect("a number of cases");
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn forward_f16(case in case(Direction::Forward, Precision::F16, 150)) {
        check(case)?;
    }

    #[test]
    fn input_grad_f16(case in case(Direction::InputGrad, Precision::F16, 150)) {
        check(case)?;
    }

    #[test]
    fn forward_q8(case in case(Direction::Forward, Precision::Q8, 150)) {
        check(case)?;
    }

    #[test]
    fn input_grad_q8(case in case(Direction::InputGrad, Precision::Q8, 150)) {
        check(case)?;
    }
}

#[test]
fn contraction_is_split_when_vtcm_is_small() {
    let case = Case {
        direction: Direction::Forward,
        precision: Precision::Q8,
        rows: 40,
        out: 40,
        in_: 1000,
        families: vec![verify::family::RowFamily::Uniform],
        magnitude: 0,
        weight_magnitude: 0,
        overflow: hexagon_runtime::Overflow::Infinity,
        vtcm_bytes: 96 << 10,
        seed: 5,
    };
    assert!(contraction_tile(&case) < case.in_, "the case must have several partial sums");
    check(case).unwrap();
}
