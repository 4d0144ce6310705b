//! `permafrost train`

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use hexagon_runtime::Runtime;

use super::counters::print_counters;
use super::device::DeviceArgs;
use super::error::CliError;
use super::interrupt::Stop;
use super::limits::{above_zero, below_one, not_negative, positive, probability, rank, seed};
use super::session::Session;
use crate::adapter::{Adapter, AdapterOptions};
use crate::data::load_jsonl;
use crate::memory::{ActivationBudget, available};
use crate::optimizer::{AdamWOptions, Schedule};
use crate::timeline::{Recorder, TimelineFile};
use crate::train::{self, DEFAULT_MICRO_TOKENS, Run, TrainOptions, TrainReport};

/// Flags of `permafrost train`.
#[derive(Args, Debug)]
pub(super) struct TrainArgs {
    /// The base model: a .gguf file or a Hugging Face folder.
    #[arg(long)]
    model: PathBuf,
    /// JSONL rows: `messages`, `prompt` + `completion`, or `input_ids` + `labels`.
    #[arg(long)]
    data: PathBuf,
    /// Folder of the run: metrics.jsonl and adapter/.
    #[arg(long)]
    out: PathBuf,
    /// Start from this PEFT adapter; its rank, alpha and targets win.
    #[arg(long)]
    init_adapter: Option<PathBuf>,
    /// Rows of a batch.
    #[arg(long, default_value_t = 8, value_parser = positive)]
    batch_rows: usize,
    /// Batches whose gradients add up to one optimizer step, weighted by their targets.
    #[arg(long, default_value_t = 1, value_parser = positive)]
    accumulate: usize,
    /// Take the rows in the order of the file.
    #[arg(long)]
    no_shuffle: bool,
    /// Optimizer steps; wins over --epochs.
    #[arg(long, value_parser = positive)]
    steps: Option<usize>,
    /// Passes over the data.
    #[arg(long, default_value_t = 1, value_parser = positive)]
    epochs: usize,
    #[command(flatten)]
    optimizer: OptimizerArgs,
    #[command(flatten)]
    lora: LoraArgs,
    /// Longest row, in tokens; a longer one is an error.
    #[arg(long, default_value_t = 1024, value_parser = positive)]
    max_tokens: usize,
    /// Seed of the row order, the start of A and the dropout masks.
    #[arg(long, default_value_t = 0, allow_hyphen_values = true, value_parser = seed)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArgs,
    /// Compute adapters on the CPU while the NPU works. Either way gives the same bits.
    #[arg(long, value_enum, default_value_t = Switch::On)]
    overlap: Switch,
    /// Memory for activations: auto (a share of what is available), a size such as 8GB (auto if that is less), store (keep
    /// all) or recompute (keep none, compute them again). Any of them gives the same bits.
    #[arg(long, default_value_t = ActivationBudget::Available)]
    activation_bytes: ActivationBudget,
    /// Save the adapter every so many steps, not only at the end.
    #[arg(long, value_parser = positive)]
    save_every: Option<usize>,
    /// Rows of a batch go through the model together up to this many tokens; fewer need less memory.
    #[arg(long, default_value_t = DEFAULT_MICRO_TOKENS, value_parser = positive)]
    micro_tokens: usize,
    /// Write what ran when to this file: .svg (picture), .html (page) or .json (Chrome trace).
    #[arg(long)]
    timeline: Option<TimelineFile>,
    /// Steps on the timeline, from the first.
    #[arg(long, default_value_t = 2, value_parser = positive)]
    timeline_steps: usize,
}

/// Settings of the optimizer.
#[derive(Args, Debug)]
struct OptimizerArgs {
    /// Learning rate at the end of the warm-up.
    #[arg(long, default_value_t = 1e-3, value_parser = not_negative, allow_negative_numbers = true)]
    lr: f64,
    /// Decay of the mean gradient.
    #[arg(long, default_value_t = 0.9, value_parser = below_one, allow_negative_numbers = true)]
    beta1: f64,
    /// Decay of the mean squared gradient.
    #[arg(long, default_value_t = 0.999, value_parser = below_one, allow_negative_numbers = true)]
    beta2: f64,
    /// Added to the root of the mean squared gradient.
    #[arg(long, default_value_t = 1e-8, value_parser = above_zero, allow_negative_numbers = true)]
    eps: f64,
    /// Decoupled weight decay.
    #[arg(long, default_value_t = 0.0, value_parser = not_negative, allow_negative_numbers = true)]
    weight_decay: f64,
    /// Largest norm of the gradient; 0 switches clipping off.
    #[arg(long, default_value_t = 1.0, value_parser = not_negative, allow_negative_numbers = true)]
    clip: f64,
    /// How the learning rate goes on after the warm-up.
    #[arg(long, value_enum, default_value_t = Decay::Constant)]
    schedule: Decay,
    /// Steps over which the learning rate rises linearly.
    #[arg(long, default_value_t = 0)]
    warmup_steps: usize,
    /// Share of the learning rate at which linear and cosine end.
    #[arg(long, default_value_t = 0.0, value_parser = probability, allow_negative_numbers = true)]
    min_lr_ratio: f64,
}

/// Shape of the adapter.
#[derive(Args, Debug)]
struct LoraArgs {
    /// Rank of A and B, up to 1024 [default: 16].
    #[arg(long, value_parser = rank)]
    rank: Option<usize>,
    /// The adapter's product is scaled by alpha / rank [default: 32].
    #[arg(long, value_parser = above_zero, allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// Probability with which an input of A is dropped in training [default: 0, or the initial adapter's].
    #[arg(long, value_parser = below_one, allow_negative_numbers = true)]
    dropout: Option<f64>,
    /// Projections that get an adapter, by the last part of their name, separated by commas [default: all].
    #[arg(long, value_delimiter = ',')]
    targets: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Decay {
    Constant,
    Linear,
    Cosine,
}

impl TrainArgs {
    /// Trains, then says what was done and where it lies.
    pub fn run(self) -> Result<ExitCode, CliError> {
        let mut session = Session::open(&self.model, &self.device)?;
        session.announce();
        let base = session.base()?;
        let text = session.model.text.as_ref();
        let dataset = load_jsonl(&self.data, text, session.model.config.vocab, self.max_tokens)?;
        let start = self.lora.options(self.seed);
        let projections = session.decoder.projections();
        let mut adapter = match &self.init_adapter {
            Some(folder) => Adapter::resume_from(folder, projections, &base, &start)?,
            None => Adapter::fresh(projections, &start)?,
        };
        let stop = Stop::install();
        let options = self.options();
        let run = Run {
            folder: &self.out,
            decoder: &session.decoder,
            base: &base,
            dataset: &dataset,
            options: &options,
            interrupt: &stop.flag,
        };
        let report = train::run(&run, &mut session.runtime, &mut adapter)?;
        print(&report, &stop, &session.runtime, self.device.session_bytes());
        if let (Some(file), Some(recorder)) = (&self.timeline, &options.timeline) {
            file.write(&format!("permafrost train, {}", self.model.display()), &recorder.spans())?;
            outln!("timeline      {}", file.path().display());
        }
        Ok(if report.interrupted { stop.exit_code() } else { ExitCode::SUCCESS })
    }

    fn options(&self) -> TrainOptions {
        let optimizer = &self.optimizer;
        TrainOptions {
            batch_rows: self.batch_rows,
            accumulate: self.accumulate,
            shuffle: !self.no_shuffle,
            steps: self.steps,
            epochs: self.epochs,
            adamw: AdamWOptions {
                lr: optimizer.lr,
                beta1: optimizer.beta1,
                beta2: optimizer.beta2,
                eps: optimizer.eps,
                weight_decay: optimizer.weight_decay,
            },
            clip: (optimizer.clip > 0.0).then_some(optimizer.clip),
            schedule: match optimizer.schedule {
                Decay::Constant => Schedule::Constant,
                Decay::Linear => Schedule::Linear,
                Decay::Cosine => Schedule::Cosine,
            },
            warmup_steps: optimizer.warmup_steps,
            min_lr_ratio: optimizer.min_lr_ratio,
            seed: self.seed,
            activations: self.activation_bytes.activations(available()),
            overlap: self.overlap == Switch::On,
            save_every: self.save_every,
            micro_tokens: self.micro_tokens,
            progress: true,
            timeline: self.timeline.as_ref().map(|_| Arc::new(Recorder::new(self.timeline_steps))),
        }
    }
}

/// Says how far the run got, what it cost and where the result lies.
pub(super) fn print(report: &TrainReport, stop: &Stop, runtime: &Runtime, session_bytes: u64) {
    if report.interrupted {
        outln!("stopped by {} after step {} of {}", stop.reason(), report.steps, report.total_steps);
    }
    outln!("steps         {}", report.steps);
    if let Some((first, last)) = report.first_loss().zip(report.last_loss()) {
        outln!("loss          {first:.6} → {last:.6}");
    }
    outln!("tokens/s      {:.0}", report.tokens() as f64 / report.seconds.max(f64::MIN_POSITIVE));
    let (layers, again) = (report.activations.stored.len(), report.activations.recomputed().len());
    let megabytes = report.activations.peak as f64 / 1e6;
    outln!("activations   up to {megabytes:.1} MB, {again} of {layers} layers computed again");
    let peak = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let measured = report.measured_peak.map_or("not told by this system".to_owned(), peak);
    let when = if report.predicted_peak() == report.predicted_loading { " while loading" } else { "" };
    outln!("peak memory   predicted {}{when}, measured {measured}", peak(report.predicted_peak()));
    print_counters(runtime, session_bytes);
    outln!("adapter       {}", report.adapter.display());
}

impl LoraArgs {
    fn options(&self, seed: u64) -> AdapterOptions {
        AdapterOptions {
            rank: self.rank,
            alpha: self.alpha.map(|alpha| alpha as f32),
            dropout: self.dropout.map(|dropout| dropout as f32),
            targets: self.targets.clone(),
            seed,
        }
    }
}
