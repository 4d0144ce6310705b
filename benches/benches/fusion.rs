//! The training step on the CPU: the trainer's fused nodes beside the same step composed of separate operators, in turns in
//! one process, after the losses and every gradient were compared.
//!
//! `cargo bench -p benches --bench fusion` prints a table, and below it where the separate operators' time goes.
//! `-- --tokens 256,1024 --layers 4 --pairs 5 --threads 2` are what it does untold.

use std::alloc::System;
use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

use benches::{Fusion, GRADIENT_TOLERANCE, LOSS_TOLERANCE};
use clap::Parser;
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use trainer::registry::ModelConfig;

/// Knows the most bytes that were held at once.
#[global_allocator]
static MEMORY: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

#[derive(Parser)]
struct Options {
    /// Model whose shapes are taken.
    #[arg(long, default_value = "Qwen3.5-0.8B")]
    preset: String,
    /// Its first layers; every fourth attends.
    #[arg(long, default_value_t = 4)]
    layers: usize,
    /// Lengths of the sequence, each measured.
    #[arg(long, value_delimiter = ',', default_values_t = [256, 1024])]
    tokens: Vec<usize>,
    /// Pairs of steps timed.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Threads of both sides [default: all].
    #[arg(long)]
    threads: Option<usize>,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Times of one length, pair by pair.
struct Measured {
    separate: Vec<f64>,
    fused: Vec<f64>,
    /// Most bytes held at once, beside what is held before the step: separate, fused.
    bytes: [usize; 2],
    operators: BTreeMap<&'static str, Duration>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let threads = options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let (name, config) = ModelConfig::preset(&options.preset)?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut fusion = Fusion::open(config.first_layers(options.layers), folder.path(), threads)?;
    println!("{name}, {} layers, {threads} threads, {} pairs", options.layers, options.pairs);

    let mut table = String::from(
        "| tokens | separate, s/step | fused, s/step | ratio | least to largest ratio | memory of a step, separate | fused |\n|---|---|---|---|---|---|---|\n",
    );
    let mut shares = String::new();
    for tokens in &options.tokens {
        let ids = fusion.ids(*tokens);
        let deviation = fusion.deviation(&ids);
        println!("{tokens} tokens: losses differ by {:.1e}, gradients by {:.1e}", deviation.loss, deviation.gradient);
        if !deviation.holds() {
            let limits = format!("{LOSS_TOLERANCE:.0e} and {GRADIENT_TOLERANCE:.0e}");
            return Err(format!("the sides compute different steps (limits {limits}): no time is reported").into());
        }
        let measured = measure(&mut fusion, &ids, options.pairs);
        table += &row(*tokens, &measured);
        shares += &format!("\n{tokens} tokens, separate operators, forward and backward, ms/step:\n");
        shares += &operators(&measured.operators, options.pairs);
    }
    println!("\n{table}{shares}");
    Ok(())
}

/// The check before was the warm-up.
fn measure(fusion: &mut Fusion, ids: &[u32], pairs: u32) -> Measured {
    let (mut separate, mut fused, mut operators) = (Vec::new(), Vec::new(), BTreeMap::new());
    let mut bytes = [0; 2];
    for _ in 0..pairs {
        let (seconds, held, step) = watched(|| fusion.separate(ids));
        for (operator, time) in step.times() {
            *operators.entry(*operator).or_default() += *time;
        }
        drop(step);
        separate.push(seconds);
        bytes[0] = bytes[0].max(held);
        let (seconds, held, _) = watched(|| fusion.fused(ids));
        fused.push(seconds);
        bytes[1] = bytes[1].max(held);
    }
    Measured { separate, fused, bytes, operators }
}

/// Seconds, the most bytes held beside those before, and what `work` gives.
fn watched<R>(work: impl FnOnce() -> R) -> (f64, usize, R) {
    MEMORY.reset_peak_memory();
    let start = Instant::now();
    let done = work();
    (start.elapsed().as_secs_f64(), MEMORY.get_peak_memory(), done)
}

fn row(tokens: usize, measured: &Measured) -> String {
    let Measured { separate, fused, bytes, .. } = measured;
    let ratios: Vec<f64> = separate.iter().zip(fused).map(|(separate, fused)| separate / fused).collect();
    let (least, largest) = ratios.iter().fold((f64::MAX, 0.0f64), |(l, h), r| (l.min(*r), h.max(*r)));
    let [separate_bytes, fused_bytes] = bytes.map(|bytes| format!("{:.2} GB", bytes as f64 / 1e9));
    format!(
        "| {tokens} | {:.2} | {:.2} | {:.2} | {least:.2} to {largest:.2} | {separate_bytes} | {fused_bytes} |\n",
        median(separate.clone()),
        median(fused.clone()),
        median(ratios)
    )
}

fn operators(times: &BTreeMap<&'static str, Duration>, pairs: u32) -> String {
    let mut times: Vec<_> = times.iter().collect();
    times.sort_by_key(|(_, time)| std::cmp::Reverse(**time));
    let all: Duration = times.iter().map(|(_, time)| **time).sum();
    let line = |(operator, time): (&&str, &Duration)| {
        let share = 100.0 * time.as_secs_f64() / all.as_secs_f64();
        format!("{operator:>18} {:8.1} {share:5.1} %\n", time.as_secs_f64() * 1e3 / f64::from(pairs))
    };
    times.into_iter().map(|(operator, time)| line((operator, time))).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
