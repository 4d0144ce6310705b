//! The functional-model device through the public interface.

use hexagon_runtime::{
    Counters, DeviceKind, Direction, Faults, Overflow, PlanOutcome, Precision, ProjectionId, Runtime, RuntimeBuilder,
    RuntimeConfig, RuntimeError, WeightData,
};

/// Tails in every extent.
const OUT: usize = 150;
const IN: usize = 210;
const ROWS: usize = 75;

fn noise(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Small enough that no partial sum leaves FP16.
fn weights() -> Vec<f32> {
    noise(OUT * IN, 1).iter().map(|w| w * 0.1).collect()
}

fn config(device: DeviceKind, precision: Precision) -> RuntimeConfig {
    RuntimeConfig { device, precision, threads: 2, token_buckets: vec![32, 64], ..RuntimeConfig::default() }
}

fn model(precision: Precision) -> RuntimeConfig {
    config(DeviceKind::Model { checked: false }, precision)
}

fn start(config: RuntimeConfig) -> (Runtime, ProjectionId) {
    let mut builder = RuntimeBuilder::new(config);
    let id = builder.add("layers.0.up_proj", OUT, IN, WeightData::F32(&weights())).unwrap();
    (builder.start().unwrap(), id)
}

fn run(runtime: &mut Runtime, id: ProjectionId, direction: Direction, rows: usize) -> Vec<f32> {
    let (from, to) = direction.widths(OUT, IN);
    let mut output = vec![f32::NAN; rows * to];
    runtime.run(id, direction, &noise(rows * from, 2), rows, &mut output).unwrap();
    output
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn assert_close(a: &[f32], b: &[f32], tolerance: f32) {
    let largest = b.iter().fold(0.0f32, |m, x| m.max(x.abs()));
    for (at, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance * largest, "value {at}: {x} for {y}");
    }
}

#[test]
fn every_bucket_is_supported_and_the_answers_are_those_of_the_cpu() {
    for precision in [Precision::F16, Precision::Q8] {
        let (mut npu, id) = start(model(precision));
        assert_eq!(npu.plan_table().unsupported(), 0, "{}", npu.plan_table());
        assert_eq!(npu.plan_table().rows().len(), 4);
        let (mut cpu, cpu_id) = start(config(DeviceKind::Cpu, precision));
        for direction in Direction::ALL {
            let expected = run(&mut cpu, cpu_id, direction, ROWS);
            assert_close(&run(&mut npu, id, direction, ROWS), &expected, 2e-3);
        }
        // 75 rows are a request of 64 and one of 11.
        let counters = npu.counters();
        assert_eq!((counters.forward, counters.input_grad), (2, 2));
        assert_eq!(
            (counters.fallbacks, counters.rows_retried, counters.rows_to_cpu, counters.cpu_requests),
            (0, 0, 0, 0)
        );
        assert_eq!(cpu.counters(), Counters { cpu_requests: 2, ..Counters::default() });
    }
}

#[test]
fn checked_model_threads_and_batches_give_the_same_bits() {
    for precision in [Precision::F16, Precision::Q8] {
        let (mut npu, id) = start(model(precision));
        let (mut checked, checked_id) = start(config(DeviceKind::Model { checked: true }, precision));
        assert_eq!(checked.plan_table().unsupported(), 0, "{}", checked.plan_table());
        assert_eq!(checked.plan_hash(), npu.plan_hash());
        for direction in Direction::ALL {
            let expected = bits(&run(&mut npu, id, direction, ROWS));
            assert_eq!(bits(&run(&mut checked, checked_id, direction, ROWS)), expected);
            for threads in [1, 3, 5] {
                let (mut other, id) = start(RuntimeConfig { threads, ..model(precision) });
                assert_eq!(bits(&run(&mut other, id, direction, ROWS)), expected, "{threads} threads");
            }
            // Row by row.
            let (from, to) = direction.widths(OUT, IN);
            let input = noise(ROWS * from, 2);
            for row in 0..ROWS {
                let mut output = vec![0.0; to];
                npu.run(id, direction, &input[row * from..(row + 1) * from], 1, &mut output).unwrap();
                assert_eq!(bits(&output), expected[row * to..(row + 1) * to], "row {row}");
            }
        }
    }
}

#[test]
fn a_forced_overflow_is_retried_and_leaves_the_same_bits() {
    for precision in [Precision::F16, Precision::Q8] {
        for direction in Direction::ALL {
            let (mut plain, id) = start(model(precision));
            let expected = bits(&run(&mut plain, id, direction, ROWS));
            for overflow in Overflow::ALL {
                for checked in [false, true] {
                    let faults = Faults::parse("overflow=up_proj:3;overflow=up_proj:70").unwrap();
                    let device = DeviceKind::Model { checked };
                    let (mut faulty, id) = start(RuntimeConfig { faults, overflow, device, ..model(precision) });
                    let got = bits(&run(&mut faulty, id, direction, ROWS));
                    let counters = faulty.counters();
                    assert_eq!(
                        (counters.rows_retried, counters.rows_to_cpu),
                        (2, 0),
                        "{precision} {direction} {overflow:?}"
                    );
                    assert_eq!(got, expected, "{precision} {direction} {overflow:?} checked {checked}");
                }
            }
        }
    }
}

#[test]
fn a_row_that_overflows_at_every_scale_goes_to_the_cpu() {
    // The scaled row is just below 2^13; at 2^-24 of that its sum with 2048 of the largest weights is still above 60 000.
    let (out, in_) = (32, 2048);
    let weights = vec![65_504.0f32; out * in_];
    for overflow in Overflow::ALL {
        let mut builder = RuntimeBuilder::new(RuntimeConfig { overflow, ..model(Precision::F16) });
        let id = builder.add("w", out, in_, WeightData::F32(&weights)).unwrap();
        let mut runtime = builder.start().unwrap();
        let mut input = vec![0.0f32; 3 * in_];
        input[in_..2 * in_].fill(1.99);
        let mut output = vec![f32::NAN; 3 * out];
        runtime.run(id, Direction::Forward, &input, 3, &mut output).unwrap();
        let counters = runtime.counters();
        assert_eq!(
            (counters.rows_retried, counters.rows_to_cpu, counters.fallbacks),
            (3, 1, 0),
            "{}",
            runtime.plan_table()
        );
        assert_eq!(output[..out], vec![0.0; out]);
        assert_close(&output[out..2 * out], &vec![1.99 * 65_504.0 * 2048.0; out], 1e-5);
        assert_eq!(output[2 * out..], vec![0.0; out]);
    }
}

#[test]
fn an_unsupported_projection_runs_on_the_cpu_and_is_counted() {
    let faults = Faults { unsupported: vec!["up_proj".to_owned()], ..Faults::default() };
    let (mut faulty, id) = start(RuntimeConfig { faults, ..model(Precision::Q8) });
    assert_eq!(faulty.plan_table().unsupported(), 4);
    assert!(faulty.plan_table().to_string().contains("CPU: fault forced"));
    let (mut cpu, cpu_id) = start(config(DeviceKind::Cpu, Precision::Q8));
    for direction in Direction::ALL {
        assert_eq!(run(&mut faulty, id, direction, 9), run(&mut cpu, cpu_id, direction, 9));
    }
    assert_eq!(faulty.counters(), Counters { fallbacks: 2, ..Counters::default() });
    let (plain, _) = start(model(Precision::Q8));
    assert_ne!(plain.plan_hash(), faulty.plan_hash());
}

#[test]
fn a_weight_beyond_fp16_runs_on_the_cpu_with_the_reason() {
    let mut weights = weights();
    weights[3 * IN + 5] = 1e6;
    let mut builder = RuntimeBuilder::new(model(Precision::F16));
    let id = builder.add("w", OUT, IN, WeightData::F32(&weights)).unwrap();
    let mut runtime = builder.start().unwrap();
    match &runtime.plan_table().rows()[0].outcome {
        PlanOutcome::Unsupported { reason } => {
            assert!(reason.contains("row 3, column 5"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
    run(&mut runtime, id, Direction::Forward, 2);
    assert_eq!(runtime.counters().fallbacks, 1);
}

#[test]
fn a_vtcm_too_small_for_any_tile_is_a_reason_not_an_error() {
    let (mut runtime, id) = start(RuntimeConfig { vtcm_bytes: 4096, ..model(Precision::Q8) });
    assert_eq!(runtime.plan_table().unsupported(), 4);
    assert!(runtime.plan_table().to_string().contains("VTCM"));
    run(&mut runtime, id, Direction::InputGrad, 2);
    assert_eq!(runtime.counters().fallbacks, 1);
}

#[test]
fn nan_in_the_input_names_projection_direction_and_row() {
    for device in [DeviceKind::Cpu, DeviceKind::Model { checked: false }] {
        let (mut runtime, id) = start(config(device, Precision::Q8));
        let mut input = noise(4 * OUT, 3);
        input[2 * OUT + 7] = f32::INFINITY;
        match runtime.submit(id, Direction::InputGrad, &input, 4).err() {
            Some(RuntimeError::InputNotFinite { name, direction: Direction::InputGrad, row: 2, column: 7, .. }) => {
                assert_eq!(name, "layers.0.up_proj");
            }
            other => panic!("{other:?}"),
        }
        // The runtime is still good.
        run(&mut runtime, id, Direction::Forward, 1);
    }
}

#[test]
fn a_ticket_may_be_dropped_or_leaked() {
    let (mut runtime, id) = start(model(Precision::Q8));
    let expected = run(&mut runtime, id, Direction::Forward, 5);
    let other = noise(40 * OUT, 9);
    drop(runtime.submit(id, Direction::InputGrad, &other, 40).unwrap());
    assert_eq!(run(&mut runtime, id, Direction::Forward, 5), expected);
    std::mem::forget(runtime.submit(id, Direction::InputGrad, &other, 40).unwrap());
    assert_eq!(run(&mut runtime, id, Direction::Forward, 5), expected);
    std::mem::forget(runtime.submit(id, Direction::InputGrad, &other, 40).unwrap());
    drop(runtime);
}

#[test]
fn no_rows_are_a_request_like_any_other() {
    let (mut runtime, id) = start(model(Precision::F16));
    runtime.run(id, Direction::Forward, &[], 0, &mut []).unwrap();
    assert_eq!(runtime.counters(), Counters::default());
}

#[test]
fn wrong_lengths_and_foreign_ids_are_errors() {
    let (mut runtime, id) = start(model(Precision::F16));
    let text = runtime.submit(id, Direction::Forward, &[0.0; 11], 2).err().unwrap().to_string();
    assert!(text.contains("input has 11 values, 2 rows of 210 need 420"), "{text}");
    let text =
        runtime.submit(id, Direction::Forward, &[0.0; IN], 1).unwrap().wait(&mut [0.0; 3]).unwrap_err().to_string();
    assert!(text.contains("output has room for 3 values, 1 rows of 150 need 150"), "{text}");

    let mut builder = RuntimeBuilder::new(model(Precision::F16));
    builder.add("a", 1, 1, WeightData::F32(&[1.0])).unwrap();
    let foreign = builder.add("b", 1, 1, WeightData::F32(&[1.0])).unwrap();
    assert!(matches!(builder.add("b", 1, 1, WeightData::F32(&[1.0])), Err(RuntimeError::DuplicateProjection { .. })));
    let refused = runtime.submit(foreign, Direction::Forward, &[0.0], 1).err();
    assert!(matches!(refused, Some(RuntimeError::UnknownProjection { index: 1 })));
}

#[test]
fn configurations_that_cannot_work_are_errors() {
    let refused = |config| RuntimeBuilder::new(config).start().err().unwrap().to_string();
    assert!(refused(model(Precision::F32)).contains("CPU device only"));
    assert!(refused(RuntimeConfig { threads: 0, ..model(Precision::Q8) }).contains("--threads"));
    assert!(refused(RuntimeConfig { token_buckets: vec![], ..model(Precision::Q8) }).contains("token bucket"));
}
