//! The fast functional model against f32 GEMM, one thread each, packing and unpacking included; the checked mode beside it.
//!
//! `cargo bench -p benches --bench products` prints criterion's figures, then a table of ratios measured in turns, so that a
//! machine whose speed drifts slows both sides.

use std::time::{Duration, Instant};

use benches::{Baseline, BenchProduct, SHAPES, median};
use criterion::{Criterion, Throughput};
use hexagon_runtime::{Direction, Precision};

const TURNS: usize = 9;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let mut table = String::from(
        "| shape (m x n x k) | direction | weights | model GFLOP/s | gemm f32 GFLOP/s | ratio | checked mode, times slower |\n|---|---|---|---|---|---|---|\n",
    );
    for shape in SHAPES {
        for direction in [Direction::Forward, Direction::InputGrad] {
            for precision in [Precision::F16, Precision::Q8] {
                let mut product = BenchProduct::new(shape, direction, precision, false);
                let mut baseline = Baseline::new(&product, direction);
                let mut group = criterion.benchmark_group(format!("{shape} {direction:?} {precision:?}"));
                group.throughput(Throughput::Elements(shape.flop() as u64));
                group.bench_function("model", |b| b.iter(|| product.run()));
                group.bench_function("gemm", |b| b.iter(|| baseline.run(&product, direction)));
                group.finish();

                let (mut model, mut gemm) = (Vec::new(), Vec::new());
                for _ in 0..TURNS {
                    model.push(seconds(|| product.run()));
                    gemm.push(seconds(|| baseline.run(&product, direction)));
                }
                let ratio = median(model.iter().zip(&gemm).map(|(m, g)| g / m).collect());
                let mut checked = BenchProduct::new(shape, direction, precision, true);
                let slower = seconds(|| checked.run()) / median(model.clone());
                let rate = |times: Vec<f64>| shape.flop() / median(times) / 1e9;
                table += &format!(
                    "| {shape} | {direction:?} | {precision:?} | {:.1} | {:.1} | {ratio:.2} | {slower:.0} |\n",
                    rate(model),
                    rate(gemm)
                );
            }
        }
    }
    criterion.final_summary();
    println!("\n{table}");
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}
