//! Weights spread over several NPU sessions.

use hexagon_runtime::{
    DeviceKind, Direction, PlanOutcome, Precision, ProjectionId, Runtime, RuntimeBuilder, RuntimeConfig, WeightData,
};

/// Extents of the projections of a layer, 0.46 MB in Q8 together.
const LAYER: [(&str, usize, usize); 3] = [("q", 320, 320), ("up", 512, 320), ("down", 320, 512)];
const LAYERS: usize = 5;
const ROWS: usize = 40;

fn noise(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f32 / (1u64 << 23) as f32 - 1.0) * 0.1
    };
    (0..len).map(|_| next()).collect()
}

fn start(session_bytes: u64, checked: bool) -> (Runtime, Vec<ProjectionId>) {
    let device = DeviceKind::Model { checked };
    let mut builder = RuntimeBuilder::new(RuntimeConfig {
        device,
        precision: Precision::Q8,
        threads: 2,
        token_buckets: vec![64],
        session_bytes,
        ..RuntimeConfig::default()
    });
    let mut ids = Vec::new();
    for layer in 0..LAYERS {
        builder.next_group();
        for (part, out, in_) in LAYER {
            let weights = noise(out * in_, (layer * 10 + part.len()) as u64);
            let name = format!("layers.{layer}.{part}");
            ids.push(builder.add(&name, out, in_, WeightData::F32(&weights)).unwrap());
        }
    }
    (builder.start().unwrap(), ids)
}

/// Bits of every projection in both directions.
fn answers(runtime: &mut Runtime, ids: &[ProjectionId]) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for (id, direction) in ids.iter().flat_map(|id| Direction::ALL.map(|direction| (*id, direction))) {
        let (out, in_) = runtime.shape(id).unwrap();
        let (from, to) = direction.widths(out, in_);
        let mut output = vec![f32::NAN; ROWS * to];
        runtime.run(id, direction, &noise(ROWS * from, 3), ROWS, &mut output).unwrap();
        all.push(output.iter().map(|x| x.to_bits()).collect());
    }
    all
}

#[test]
fn a_split_model_gives_the_same_bits_and_every_session_answers_for_its_own_weights() {
    let (mut whole, ids) = start(1 << 40, false);
    let expected = answers(&mut whole, &ids);
    assert_eq!(whole.sessions().len(), 1);
    assert_eq!(whole.sessions()[0].requests, 2 * ids.len() as u64);
    for checked in [false, true] {
        let (mut split, ids) = start(1_000_000, checked);
        assert_eq!(split.plan_hash(), whole.plan_hash());
        assert!(answers(&mut split, &ids) == expected, "checked {checked}: other bits");
        let sessions = split.sessions();
        // Two whole layers each.
        assert_eq!(sessions.len(), 3, "{sessions:?}");
        assert!(sessions.iter().all(|session| session.bytes <= 1_000_000), "{sessions:?}");
        assert_eq!(sessions.iter().map(|session| session.bytes).sum::<u64>(), split.resident_bytes() as u64);
        assert_eq!(sessions.iter().map(|session| session.projections).sum::<usize>(), ids.len());
        for session in sessions {
            assert_eq!(session.requests, 2 * session.projections as u64, "{sessions:?}");
        }
        assert_eq!((sessions[0].first.as_str(), sessions[0].last.as_str()), ("layers.0.q", "layers.1.down"));
        assert_eq!(split.counters().fallbacks, 0);
    }
}

#[test]
fn a_weight_beyond_a_session_runs_on_the_cpu_with_the_reason() {
    let (mut runtime, ids) = start(150_000, false);
    answers(&mut runtime, &ids);
    // Only the 320 × 320 ones fit.
    assert_eq!(runtime.sessions().iter().map(|session| session.projections).sum::<usize>(), LAYERS);
    for row in runtime.plan_table().rows() {
        match &row.outcome {
            PlanOutcome::Supported { .. } => assert!(row.projection.ends_with(".q"), "{row:?}"),
            PlanOutcome::Unsupported { reason } => {
                assert!(reason.contains("needs 174080 bytes") && reason.contains("--session-bytes"), "{reason}");
            }
        }
    }
    let on_npu: u64 = runtime.sessions().iter().map(|session| session.requests).sum();
    assert_eq!((on_npu, runtime.counters().fallbacks), (2 * LAYERS as u64, 4 * LAYERS as u64));
}
