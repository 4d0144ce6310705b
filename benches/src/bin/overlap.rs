//! Trains the same steps with the adapters computed after each NPU request, and meanwhile: identical bits first, then the
//! ratio of paired runs. The NPU is its functional model on one host thread, the CPU's nodes have another: what is
//! measured is the schedule, not a phone.
//!
//! `cargo build --release -p trainer && cargo run --release -p benches --bin overlap`

use std::error::Error;

use benches::{Trained, Training};
use clap::Parser;
use hexagon_runtime::{Arch, SESSION_BYTES};
use trainer::memory::ActivationBudget;
use trainer::model_file::read_config;
use trainer::plan::{PlanRequest, Report};
use trainer::registry::PrecisionPolicy;

/// The paper's seconds of a step without overlap and with it.
const PAPER: [f64; 2] = [62.4, 59.8];

/// Compares synchronous and overlapped training.
#[derive(Parser)]
struct Overlap {
    /// Model whose shapes are taken.
    #[arg(long, default_value = "qwen3.5-0.8b")]
    preset: String,
    /// Layers of it.
    #[arg(long, default_value_t = 12)]
    layers: usize,
    /// Tokens of the one row of a step.
    #[arg(long, default_value_t = 512)]
    tokens: usize,
    /// Optimizer steps of a run; the first of each is not timed.
    #[arg(long, default_value_t = 2)]
    steps: usize,
    /// Pairs of runs.
    #[arg(long, default_value_t = 5)]
    pairs: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Overlap { preset, layers, tokens, steps, pairs } = Overlap::parse();
    if steps < 2 || pairs == 0 {
        return Err("give at least 2 --steps and 1 pair: the first step of a run is not timed".into());
    }
    let folder = tempfile::tempdir()?;
    let mut training = Training::new(folder.path(), &preset, layers, steps, tokens)?;
    let config = read_config(&training.model())?;
    println!(
        "{preset} {layers} layers, {tokens} tokens, functional model of the NPU on one thread, CPU nodes on another"
    );
    println!("| pair | synchronous s a step | overlapped s a step | ratio | NPU busy, overlapped |");
    println!("|---|---|---|---|---|");
    let mut run = |overlap: &str| {
        let flags = ["--device", "model", "--threads", "1", "--activation-bytes", "store", "--overlap", overlap];
        training.train(steps, &flags)
    };
    let mut ratios = Vec::new();
    let mut adapter: Option<Vec<u8>> = None;
    for pair in 0..pairs {
        // The machine drifts: whoever goes first takes turns.
        let (off, on) = match pair % 2 {
            0 => {
                let off = run("off")?;
                (off, run("on")?)
            }
            _ => {
                let on = run("on")?;
                (run("off")?, on)
            }
        };
        let adapter = adapter.get_or_insert_with(|| off.adapter.clone());
        if *adapter != off.adapter || *adapter != on.adapter {
            return Err(format!("pair {pair}: the adapters differ, so their times mean nothing").into());
        }
        if [&off, &on].iter().any(|run| run.numbers("fallbacks").map_or(true, |n| n != [0.0])) {
            return Err("requests fell back to the CPU, so the runs do not show the NPU at work".into());
        }
        let [synchronous, overlapped] = [seconds(&off), seconds(&on)];
        ratios.push(synchronous / overlapped);
        let share = 100.0 * on.npu_share()?;
        println!(
            "| {} | {synchronous:.2} | {overlapped:.2} | {:.3} | {share:.0} % |",
            pair + 1,
            synchronous / overlapped
        );
    }
    ratios.sort_by(f64::total_cmp);
    println!("adapters equal byte for byte; median ratio of the pairs {:.3}", ratios[ratios.len() / 2]);
    let [synchronous, overlapped] = PAPER;
    println!(
        "the paper's phone: {synchronous} s synchronous, {overlapped} s overlapped, {:.3}",
        synchronous / overlapped
    );
    let report = Report::of(&PlanRequest {
        name: preset,
        config,
        policy: PrecisionPolicy::NPU,
        arch: Arch::V79,
        tokens,
        rank: 16,
        session_bytes: SESSION_BYTES,
        budget: ActivationBudget::Store,
        threads: 1,
        available: None,
    })?;
    let total = report.npu.total;
    println!(
        "cost model of the same step, NPU only: {:.3} s as emitted, {:.3} s with all units busy ({})",
        total.in_order, total.overlapped, report.npu.note
    );
    Ok(())
}

/// Median seconds of a step after the first.
fn seconds(trained: &Trained) -> f64 {
    let mut seconds = trained.seconds[1..].to_vec();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
