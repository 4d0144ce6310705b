//! `permafrost demo`

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use super::device::DeviceArgs;
use super::error::CliError;
use super::interrupt::Stop;
use super::limits::seed;
use super::progress::Progress;
use super::session::Session;
use crate::adapter::{Adapter, AdapterOptions};
use crate::data::load_jsonl;
use crate::demo::{self, Measured, Summary, TagTask};
use crate::eval::Agreement;
use crate::memory::PeakMemory;
use crate::optimizer::{AdamWOptions, Schedule};
use crate::train::{self, DEFAULT_MICRO_TOKENS, Run, TrainOptions};

/// Rows of the test split that are measured unless all are asked for.
const MEASURED_ROWS: usize = 120;
/// Longest training row; the longest of the bundled set has fewer than 250 tokens.
const MAX_TOKENS: usize = 512;

/// Flags of `permafrost demo`.
#[derive(Args, Debug)]
pub(super) struct DemoArgs {
    /// Use this chat model instead of fetching SmolLM2-135M-Instruct: a .gguf file or a Hugging Face folder.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Measure all 225 rows of the test split, not the first 120.
    #[arg(long)]
    full: bool,
    /// Rows to train on, drawn from the 1168 of the training split.
    #[arg(long, default_value_t = 320, value_parser = clap::value_parser!(u16).range(1..))]
    rows: u16,
    /// Folder of the run: train.jsonl, metrics.jsonl and adapter/.
    #[arg(long, default_value = "runs/demo")]
    out: PathBuf,
    /// Seed of the rows and of the start of the adapter.
    #[arg(long, default_value_t = 0, allow_hyphen_values = true, value_parser = seed)]
    seed: u64,
    /// Rows of a batch go through the model together up to this many tokens; fewer need less memory.
    #[arg(long, default_value_t = DEFAULT_MICRO_TOKENS)]
    micro_tokens: usize,
    #[command(flatten)]
    device: DeviceArgs,
}

impl DemoArgs {
    /// Measures, trains, measures again, and prints the summary.
    pub fn run(self) -> Result<ExitCode, CliError> {
        let mut clock = Clock::start();
        let path = match &self.model {
            Some(path) => path.clone(),
            None => demo::smollm2(&mut |step| errln!("{step}"))?,
        };
        let (train, mut test) = (demo::train()?, demo::test()?);
        let tags = demo::tags(&train);
        if !self.full {
            test.truncate(MEASURED_ROWS);
        }
        errln!("model         {}", path.display());
        clock.lap("fetching");

        let mut session = Session::open(&path, &self.device)?;
        session.announce();
        let task = TagTask::new(session.text()?, &test, &tags)?;
        clock.lap("loading");

        let before = measure(&task, &mut session, None, "before training")?;
        clock.lap("before");

        let rows = demo::pick(train, usize::from(self.rows), self.seed);
        let data = self.out.join("train.jsonl");
        demo::write_training_rows(&data, &rows, &tags).map_err(|source| CliError::Io { path: data.clone(), source })?;
        let dataset = load_jsonl(&data, session.model.text.as_ref(), session.model.config.vocab, MAX_TOKENS)?;
        let seed = self.seed;
        let start = AdapterOptions { seed, ..AdapterOptions::default() };
        let mut adapter = Adapter::fresh(session.decoder.projections(), &start)?;
        let base = session.base()?;
        let memory = PeakMemory::watch();
        let stop = Stop::install();
        let run = Run {
            folder: &self.out,
            decoder: &session.decoder,
            base: &base,
            dataset: &dataset,
            options: &self.options(),
            interrupt: &stop.flag,
        };
        let report = train::run(&run, &mut session.runtime, &mut adapter)?;
        let peak_bytes = memory.bytes();
        clock.lap("training");
        if report.interrupted {
            super::train::print(&report, &stop, &session.runtime, self.device.session_bytes());
            return Ok(stop.exit_code());
        }

        let after = measure(&task, &mut session, Some(&adapter), "after training")?;
        clock.lap("after");
        let summary = Summary {
            measured: Measured { before, after },
            steps: report.steps,
            losses: report.first_loss().zip(report.last_loss()),
            tokens_per_second: report.tokens() as f64 / report.seconds.max(f64::MIN_POSITIVE),
            counters: session.runtime.counters(),
            peak_bytes,
            phases: clock.laps,
        };
        outln!("\n{summary}  adapter                     {}", report.adapter.display());
        Ok(ExitCode::SUCCESS)
    }

    /// One pass in batches of 8, the settings the reference figures were made with.
    fn options(&self) -> TrainOptions {
        TrainOptions {
            batch_rows: 8,
            // The rows come in drawn order already.
            shuffle: false,
            epochs: 1,
            adamw: AdamWOptions { lr: 1e-3, ..AdamWOptions::default() },
            clip: Some(1.0),
            schedule: Schedule::Linear,
            warmup_steps: 4,
            min_lr_ratio: 0.1,
            seed: self.seed,
            micro_tokens: self.micro_tokens,
            ..TrainOptions::default()
        }
    }
}

fn measure(
    task: &TagTask,
    session: &mut Session,
    adapter: Option<&Adapter>,
    label: &str,
) -> Result<Agreement, CliError> {
    let mut progress = Progress::start(label, task.len(), "rows");
    let agreement = task.measure(&mut session.subject(adapter), &mut |done| progress.at(done, ""))?;
    drop(progress);
    errln!("{label}: accuracy {:.1} %, macro-F1 {:.3}", 100.0 * agreement.accuracy, agreement.macro_f1);
    Ok(agreement)
}

/// Times the phases.
struct Clock {
    last: Instant,
    laps: Vec<(&'static str, std::time::Duration)>,
}

impl Clock {
    fn start() -> Clock {
        Clock { last: Instant::now(), laps: Vec::new() }
    }

    /// Ends the phase called `name`.
    fn lap(&mut self, name: &'static str) {
        let now = Instant::now();
        self.laps.push((name, now - self.last));
        self.last = now;
    }
}
