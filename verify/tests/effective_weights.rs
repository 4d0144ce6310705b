//! Both directions see the same weight, byte for byte.
//!
//! A row of the identity reads one column (forward) or one row (input gradient) of the weight as the kernel multiplied it:
//! scaling by 2^12 and back is exact, so the answer is the effective weight itself.

use hexagon_runtime::{DeviceKind, Direction, Precision, RuntimeBuilder, RuntimeConfig, WeightData};
use verify::effective::{f16_weights, q8_weights};
use verify::family::Random;

const OUT: usize = 75;
const IN: usize = 101;

fn identity(size: usize) -> Vec<f32> {
    let mut rows = vec![0.0; size * size];
    for i in 0..size {
        rows[i * size + i] = 1.0;
    }
    rows
}

fn both_directions(precision: Precision, checked: bool, weights: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let mut builder = RuntimeBuilder::new(RuntimeConfig {
        device: DeviceKind::Model { checked },
        precision,
        token_buckets: vec![128],
        ..RuntimeConfig::default()
    });
    let id = builder.add("w", OUT, IN, WeightData::F32(weights)).expect("a weight");
    let mut runtime = builder.start().expect("a runtime");
    let (mut columns, mut rows) = (vec![0.0; IN * OUT], vec![0.0; OUT * IN]);
    runtime.run(id, Direction::Forward, &identity(IN), IN, &mut columns).expect("a product");
    runtime.run(id, Direction::InputGrad, &identity(OUT), OUT, &mut rows).expect("a product");
    let counters = runtime.counters();
    assert_eq!((counters.fallbacks, counters.rows_retried), (0, 0), "{}", runtime.plan_table());
    let mut forward = vec![0.0; OUT * IN];
    for k in 0..IN {
        for n in 0..OUT {
            forward[n * IN + k] = columns[k * OUT + n];
        }
    }
    (forward, rows)
}

#[test]
fn forward_and_input_gradient_multiply_by_the_same_bytes() {
    let mut random = Random::new(3);
    // Magnitudes down to FP16 denormals; none so large that 2^12 times it leaves FP16.
    let weights: Vec<f32> = (0..OUT * IN).map(|_| random.signed() * 2f32.powi(random.below(24) as i32 - 22)).collect();
    for precision in [Precision::F16, Precision::Q8] {
        let expected = match precision {
            Precision::Q8 => q8_weights(&weights, IN),
            _ => f16_weights(&weights),
        };
        for checked in [false, true] {
            let (forward, input_grad) = both_directions(precision, checked, &weights);
            // Zero has one value here: the sign of an all-zero sum is the accumulator's.
            let bits = |values: &[f32]| values.iter().map(|w| (w + 0.0).to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&forward), bits(&input_grad), "{precision:?}: the directions disagree");
            let expected: Vec<f32> = expected.iter().map(|&w| w as f32).collect();
            assert_eq!(bits(&forward), bits(&expected), "{precision:?}: not the effective weight");
        }
    }
}
