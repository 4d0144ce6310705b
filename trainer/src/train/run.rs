//! The training loop.

use super::batches::Batches;
use super::error::TrainError;
use super::metrics::{MetricsFile, StepMetrics};
use super::options::TrainOptions;
use super::progress::Progress;
use crate::adapter::{Adapter, AdapterGrads, BaseModel};
use crate::architecture::{Decoder, Sequence, StepOptions};
use crate::data::{Dataset, Sample};
use crate::memory::{Choice, Held, PeakMemory, PeakPart, layer_bytes, peak_parts};
use crate::nodes::DropoutKey;
use crate::optimizer::{AdamW, LearningRate, clip, global_norm};
use crate::timeline::{Lane, Recorder, Work};
use hexagon_runtime::{RequestSpan, Runtime};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What a run works on.
pub struct Run<'a> {
    /// Folder of the run: `metrics.jsonl` and `adapter/` are written there.
    pub folder: &'a Path,
    /// The frozen model.
    pub decoder: &'a Decoder,
    /// What the saved adapter says about it.
    pub base: &'a BaseModel,
    /// Rows to train on.
    pub dataset: &'a Dataset,
    /// Settings.
    pub options: &'a TrainOptions,
    /// Set from outside (Ctrl-C): the step in flight is finished, the adapter saved.
    pub interrupt: &'a AtomicBool,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct TrainReport {
    /// Optimizer steps done.
    pub steps: usize,
    /// Steps that were asked for.
    pub total_steps: usize,
    /// Whether the run was interrupted before its last step.
    pub interrupted: bool,
    /// Every step's numbers.
    pub metrics: Vec<StepMetrics>,
    /// Wall time of all steps.
    pub seconds: f64,
    /// Seconds of these in which the NPU device computed.
    pub npu_seconds: f64,
    /// What is stored of the largest micro-batch there can be.
    pub activations: Choice,
    /// Parts of the predicted peak of the largest micro-batch there can be.
    pub predicted: Vec<PeakPart>,
    /// Bytes that were predicted to be held at once while the model was loaded.
    pub predicted_loading: u64,
    /// Most resident memory of the process up to the end of the run, in bytes, where the system tells.
    pub measured_peak: Option<u64>,
    /// Where the adapter was saved.
    pub adapter: PathBuf,
}

impl TrainReport {
    /// Loss of the first step, before any update.
    pub fn first_loss(&self) -> Option<f64> {
        self.metrics.first().map(|m| m.loss)
    }

    /// Loss of the last step, before its update.
    pub fn last_loss(&self) -> Option<f64> {
        self.metrics.last().map(|m| m.loss)
    }

    /// Tokens of all steps.
    pub fn tokens(&self) -> usize {
        self.metrics.iter().map(|m| m.tokens).sum()
    }

    /// Bytes the process was predicted to need at once, in a step or while the model was loaded.
    pub fn predicted_peak(&self) -> u64 {
        self.predicted.iter().map(|part| part.bytes).sum::<u64>().max(self.predicted_loading)
    }
}

/// Trains `adapter` and leaves it, trained, in place and in `folder/adapter`.
///
/// # Errors
/// No rows or steps, a step without a target, a loss that is no number, a failing device, a full
/// disk. The adapter saved last stays as it was.
pub fn run(run: &Run<'_>, runtime: &mut Runtime, adapter: &mut Adapter) -> Result<TrainReport, TrainError> {
    let options = run.options;
    if run.dataset.samples.is_empty() {
        return Err(TrainError::NoRows);
    }
    let mut batches = Batches::new(&run.dataset.samples, options);
    let total_steps = batches.total_steps();
    if total_steps == 0 {
        return Err(TrainError::NoSteps);
    }
    refuse_untargeted(run.dataset, &mut batches, total_steps)?;
    let (config, lengths) = (run.decoder.config(), [batches.most_tokens()]);
    let largest = layer_bytes(config, 0..config.layers, &lengths, adapter.rank);
    let activations = options.activations.choose(&largest)?;
    let held = Held {
        projections: runtime.resident_bytes() as u64,
        tables: run.decoder.table_bytes() as u64,
        adapters: size_of_val(adapter.values.as_slice()) as u64,
    };
    let predicted = peak_parts(config, &held, activations.peak, &lengths, rayon::current_num_threads());
    let folder = |source| TrainError::Folder { path: run.folder.to_owned(), source };
    std::fs::create_dir_all(run.folder).map_err(folder)?;
    let mut file = MetricsFile::create(run.folder.join("metrics.jsonl"))?;
    let learning_rate = LearningRate {
        peak: options.adamw.lr,
        schedule: options.schedule,
        warmup: options.warmup_steps,
        total: total_steps,
        min_ratio: options.min_lr_ratio,
    };
    let mut optimizer = AdamW::new(adapter, options.adamw);
    let mut grads = AdapterGrads::zeros(adapter);
    let mut progress = Progress::new(total_steps, options.progress);
    let mut report = TrainReport {
        steps: 0,
        total_steps,
        interrupted: false,
        metrics: Vec::new(),
        seconds: 0.0,
        npu_seconds: 0.0,
        activations,
        predicted,
        predicted_loading: run.decoder.loading_peak(),
        measured_peak: None,
        adapter: run.folder.join("adapter"),
    };
    let mut saved_at = None;

    while report.steps < total_steps && !run.interrupt.load(Ordering::Relaxed) {
        let (step, start, before) = (report.steps, Instant::now(), runtime.counters());
        let recorder = options.timeline.as_deref().filter(|recorder| recorder.wants(step));
        runtime.record_requests(recorder.is_some());
        let rows = batches.step(step);
        let micro_batches = batches.micro_batches(&rows);
        grads.clear();
        let busy_before = runtime.device_time();
        let (loss, targets) = gradient(run, runtime, adapter, step, &rows, &micro_batches, &mut grads)?;
        let differentiated = Instant::now();
        let grad_norm = global_norm(&grads);
        for (what, value) in [("loss", loss), ("gradient's norm", grad_norm)] {
            if !value.is_finite() {
                progress.finish();
                return Err(TrainError::NotFinite {
                    step,
                    what,
                    value,
                    lines: lines(&rows),
                    saved: saved(saved_at, &report),
                });
            }
        }
        let lr = learning_rate.at(step);
        optimizer.step(adapter, &grads, clip(grad_norm, options.clip), lr);
        if adapter.values.iter().any(|value| !value.is_finite()) {
            progress.finish();
            return Err(TrainError::Diverged { step, lr, saved: saved(saved_at, &report) });
        }

        if let Some(recorder) = recorder {
            let instants = [start, differentiated, Instant::now()];
            record(recorder, step, instants, &runtime.take_requests());
        }
        let npu_seconds = (runtime.device_time() - busy_before).as_secs_f64();
        let tokens = rows.iter().map(|row| row.ids.len()).sum();
        let seconds = start.elapsed().as_secs_f64();
        let metrics = StepMetrics {
            step,
            loss,
            lr,
            grad_norm,
            tokens,
            targets,
            seconds,
            npu_forward: 0,
            npu_input_grad: 0,
            rows_retried: 0,
            rows_to_cpu: 0,
            fallbacks: 0,
        };
        let metrics = metrics.count(before, runtime.counters());
        file.write(&metrics)?;
        progress.step(&metrics, npu_seconds);
        report.steps += 1;
        report.seconds += seconds;
        report.npu_seconds += npu_seconds;
        report.metrics.push(metrics);
        if options.save_every.is_some_and(|every| every > 0 && report.steps.is_multiple_of(every)) {
            adapter.save(&report.adapter, run.base)?;
            saved_at = Some(report.steps);
        }
    }
    progress.finish();
    runtime.record_requests(false);
    report.interrupted = report.steps < total_steps;
    if saved_at != Some(report.steps) {
        adapter.save(&report.adapter, run.base)?;
    }
    report.measured_peak = PeakMemory::of_process().bytes();
    Ok(report)
}

/// Puts a step on the timeline: its start, the end of its gradient, its end.
fn record(recorder: &Recorder, step: usize, [start, differentiated, end]: [Instant; 3], requests: &[RequestSpan]) {
    recorder.add(Lane::Step, Work::Phase, format!("step {step}"), start, end);
    recorder.add(Lane::Step, Work::Phase, format!("gradient of step {step}"), start, differentiated);
    recorder.add(Lane::Step, Work::Phase, format!("update of step {step}"), differentiated, end);
    recorder.add_requests(requests, start, differentiated);
    recorder.add(Lane::Cpu, Work::Alone, "clip and AdamW", differentiated, end);
}

/// Finds a step without a target before anything is trained, instead of losing what was.
fn refuse_untargeted(dataset: &Dataset, batches: &mut Batches<'_>, total_steps: usize) -> Result<(), TrainError> {
    if dataset.untargeted == 0 {
        return Ok(());
    }
    for step in 0..total_steps {
        let rows = batches.step(step);
        if batches.micro_batches(&rows).is_empty() {
            return Err(TrainError::NoTarget { step, lines: lines(&rows) });
        }
    }
    Ok(())
}

/// Loss and targets of a step; its gradient goes to `grads`.
/// The loss is the mean over all targets of the step, however it is cut into micro-batches.
fn gradient(
    run: &Run<'_>,
    runtime: &mut Runtime,
    adapter: &Adapter,
    step: usize,
    rows: &[&Sample],
    micro_batches: &[Vec<Sequence>],
    grads: &mut AdapterGrads,
) -> Result<(f64, usize), TrainError> {
    let targets: usize = micro_batches.iter().flatten().map(Sequence::targets).sum();
    if targets == 0 {
        return Err(TrainError::NoTarget { step, lines: lines(rows) });
    }
    let (mut sum_nll, mut first_token) = (0.0, 0);
    for batch in micro_batches {
        let options = StepOptions {
            loss_scale: 1.0 / targets as f32,
            activations: run.options.activations,
            overlap: run.options.overlap,
            dropout: DropoutKey { seed: run.options.seed, step: step as u64, first_token },
            inputs_embeds_grad: false,
        };
        let loss = run.decoder.loss_and_grad(runtime, adapter, batch, &options, grads);
        let loss = loss.map_err(|source| TrainError::Step { step, source })?;
        sum_nll += loss.sum_nll;
        first_token += batch.iter().map(|s| s.ids.len() as u64).sum::<u64>();
    }
    Ok((sum_nll / targets as f64, targets))
}

fn lines(rows: &[&Sample]) -> String {
    let mut lines: Vec<usize> = rows.iter().map(|row| row.line).collect();
    lines.sort();
    lines.dedup();
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn saved(saved_at: Option<usize>, report: &TrainReport) -> String {
    match saved_at {
        Some(steps) => format!("{} holds the one after {steps} steps", report.adapter.display()),
        None => "none was saved by this run yet (--save-every would have)".to_owned(),
    }
}
