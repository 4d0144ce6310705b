//! Trains the same steps under several activation budgets and checks that each keeps to its budget, needs the memory that
//! was predicted, and ends with the same adapter, byte for byte. Another run, whose steps are small, needs what was predicted
//! for loading.
//!
//! `cargo build --release -p trainer && cargo run --release -p benches --bin budget_sweep`

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use benches::Training;
use clap::Parser;
use trainer::architecture::Activations;
use trainer::memory::layer_bytes;
use trainer::model_file::read_config;

/// How far the resident peak may be from the predicted one.
const PEAK_TOLERANCE: f64 = 0.10;
/// Rank of the adapters unless told otherwise, as `permafrost train` has it.
const RANK: usize = 16;

/// Sweeps the activation budget.
#[derive(Parser)]
struct Sweep {
    /// Model whose shapes are taken.
    #[arg(long, default_value = "qwen3.5-0.8b")]
    preset: String,
    /// Layers of it.
    #[arg(long, default_value_t = 24)]
    layers: usize,
    /// Tokens of the one row of a step.
    #[arg(long, default_value_t = 1024)]
    tokens: usize,
    /// Optimizer steps of a run.
    #[arg(long, default_value_t = 2)]
    steps: usize,
    /// Host threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// A step of few tokens needs less than loading does, where the largest matrix is in memory in f32 and in Q8.
fn few_tokens(folder: &Path, threads: usize) -> Result<(), Box<dyn Error>> {
    let folder = folder.join("few");
    fs::create_dir(&folder)?;
    let mut training = Training::new(&folder, "llama-3.2-1b", 1, 1, 8)?;
    let threads = threads.to_string();
    let flags = ["--precision", "q8", "--weight-cache", "off", "--rank", "1", "--threads", &threads];
    let trained = training.train(1, &flags)?;
    let [predicted, measured] = trained.numbers("peak memory")?[..] else { return Err("peak memory".into()) };
    let off = measured / predicted - 1.0;
    println!(
        "llama-3.2-1b 1 layer, 8 tokens, NPU q8: predicted peak {predicted:.1} MB while loading, resident {measured:.1} MB, {:+.1} %",
        100.0 * off
    );
    if !trained.says("while loading") {
        return Err("few tokens: loading is not predicted to be the peak".into());
    }
    if off.abs() > PEAK_TOLERANCE {
        return Err(format!("few tokens: the resident peak is {:+.1} % off the predicted one", 100.0 * off).into());
    }
    Ok(())
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let sweep = Sweep::parse();
    let folder = tempfile::tempdir()?;
    let mut training = Training::new(folder.path(), &sweep.preset, sweep.layers, sweep.steps, sweep.tokens)?;
    let config = read_config(&training.model())?;
    let layers = layer_bytes(&config, 0..config.layers, &[sweep.tokens], RANK);
    let all = Activations::Store.choose(&layers)?.peak;
    // The program prints tenths of a megabyte: caps are whole tenths too, so that comparing needs no allowance.
    let tenths = |share: f64| (all as f64 * share / 1e5) as u64;
    let caps = [("25 %", Some(tenths(0.25))), ("50 %", Some(tenths(0.5))), ("100 %", Some(tenths(1.0) + 1))];
    println!("{} {} layers, {} tokens, {} steps, CPU f32", sweep.preset, sweep.layers, sweep.tokens, sweep.steps);
    println!(
        "| activation budget | cap MB | activations MB | layers computed again | predicted peak MB | resident peak MB | off | s a step | time |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let (mut failures, mut first): (Vec<String>, Option<(Vec<u8>, f64)>) = (Vec::new(), None);
    // What needs no memory limit comes first: the others' times are relative to it.
    for (name, cap) in [("unlimited", None)].into_iter().chain(caps) {
        let budget = cap.map_or("store".to_owned(), |tenths| format!("{}kB", tenths * 100));
        let (threads, rank) = (sweep.threads.to_string(), RANK.to_string());
        let flags = ["--device", "cpu", "--threads", &threads, "--rank", &rank, "--activation-bytes", &budget];
        let trained = training.train(sweep.steps, &flags)?;
        let [activations, again, of] = trained.numbers("activations")?[..] else { return Err("activations".into()) };
        let [predicted, measured] = trained.numbers("peak memory")?[..] else {
            return Err("this system does not tell how much memory a process holds".into());
        };
        let off = measured / predicted - 1.0;
        let seconds = trained.seconds.iter().sum::<f64>() / trained.seconds.len() as f64;
        let (adapter, unlimited) = first.get_or_insert_with(|| (trained.adapter.clone(), seconds));
        println!(
            "| {name} | {} | {activations:.1} | {again} of {of} | {predicted:.1} | {measured:.1} | {:+.1} % | {seconds:.1} | {:.2} |",
            cap.map_or("none".to_owned(), |tenths| format!("{:.1}", tenths as f64 / 10.0)),
            100.0 * off,
            seconds / *unlimited
        );
        if cap.is_some_and(|tenths| (activations * 10.0).round() as u64 > tenths) {
            failures.push(format!("{name}: {activations} MB of activations are over the cap"));
        }
        if off.abs() > PEAK_TOLERANCE {
            failures.push(format!("{name}: the resident peak is {:+.1} % off the predicted one", 100.0 * off));
        }
        if *adapter != trained.adapter {
            failures.push(format!("{name}: the adapter is not the one trained without a limit"));
        }
    }
    if let Err(failure) = few_tokens(folder.path(), sweep.threads) {
        failures.push(failure.to_string());
    }
    if failures.is_empty() {
        println!(
            "activations within every cap, resident peak within 10 % of the predicted one, adapters equal byte for byte"
        );
        return Ok(ExitCode::SUCCESS);
    }
    failures.iter().for_each(|failure| eprintln!("FAILED {failure}"));
    Ok(ExitCode::FAILURE)
}
