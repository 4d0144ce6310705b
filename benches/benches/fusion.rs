//! The training step on the CPU: the trainer's fused nodes beside the same step composed of separate operators, in turns in
//! one process, after the losses and every gradient were compared.
//!
//! `cargo bench -p benches --bench fusion` prints a table, and below it where the separate operators' time goes.
//! `-- --tokens 256,1024 --layers 4 --pairs 5 --threads 2` are what it does untold.

use std::alloc::System;
use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

use benches::{Fusion, GRADIENT_TOLERANCE, LOSS_TOLERANCE, median};
use clap::Parser;
use cpu_time::ProcessTime;
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

/// One length, pair by pair.
struct Measured {
    separate: Vec<Run>,
    fused: Vec<Run>,
    operators: BTreeMap<&'static str, Duration>,
}

/// One step.
struct Run {
    seconds: f64,
    /// Of all threads.
    cpu_seconds: f64,
    /// Most bytes held at once, beside what was held before the step.
    bytes: usize,
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
        "| tokens | separate: s/step (CPU s) | memory | fused: s/step (CPU s) | memory | ratio | least to largest |\n|---|---|---|---|---|---|---|\n",
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
    let mut measured = Measured { separate: Vec::new(), fused: Vec::new(), operators: BTreeMap::new() };
    for _ in 0..pairs {
        let (run, step) = watched(|| fusion.separate(ids));
        measured.separate.push(run);
        for (operator, time) in step.times() {
            *measured.operators.entry(*operator).or_default() += *time;
        }
        drop(step);
        measured.fused.push(watched(|| fusion.fused(ids)).0);
    }
    measured
}

fn watched<R>(work: impl FnOnce() -> R) -> (Run, R) {
    MEMORY.reset_peak_memory();
    let (cpu, start) = (ProcessTime::now(), Instant::now());
    let done = work();
    let (seconds, cpu_seconds) = (start.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    (Run { seconds, cpu_seconds, bytes: MEMORY.get_peak_memory() }, done)
}

fn row(tokens: usize, Measured { separate, fused, .. }: &Measured) -> String {
    let ratios: Vec<f64> =
        separate.iter().zip(fused).map(|(separate, fused)| separate.seconds / fused.seconds).collect();
    let (least, largest) = ratios.iter().fold((f64::MAX, 0.0f64), |(l, h), r| (l.min(*r), h.max(*r)));
    let side = |runs: &[Run]| {
        let seconds = median(runs.iter().map(|run| run.seconds).collect());
        let cpu_seconds = median(runs.iter().map(|run| run.cpu_seconds).collect());
        let bytes = runs.iter().map(|run| run.bytes).max().unwrap_or(0);
        format!("{seconds:.2} ({cpu_seconds:.2}) | {:.2} GB", bytes as f64 / 1e9)
    };
    let (ratio, separate, fused) = (median(ratios), side(separate), side(fused));
    format!("| {tokens} | {separate} | {fused} | {ratio:.2} | {least:.2} to {largest:.2} |\n")
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
