//! Twenty optimizer steps against PyTorch's.

use super::folder::{self, Subject, Tolerances, json};
use super::measured::Measured;
use hexagon_runtime::{DeviceKind, Precision};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use trainer::adapter::Adapter;
use trainer::data::load_jsonl;
use trainer::optimizer::{AdamWOptions, Schedule};
use trainer::registry::PrecisionPolicy;
use trainer::train::{self, Run, TrainOptions, TrainReport};

/// Trains as `train/curve.json` says; gives the report and the adapter it ended with.
fn train(folder: &Path, device: DeviceKind, policy: PrecisionPolicy) -> (TrainReport, Adapter) {
    let home = folder.join("train");
    let curve = json(&home.join("curve.json"));
    let settings = &curve["optimizer"];
    let number = |name: &str| settings[name].as_f64().unwrap_or_else(|| panic!("{name} in curve.json"));
    let count = |name: &str| settings[name].as_u64().unwrap_or(0) as usize;
    let beta = |i: usize| settings["betas"][i].as_f64().unwrap();
    let schedule = match settings["schedule"].as_str() {
        None | Some("constant") => Schedule::Constant,
        Some("linear") => Schedule::Linear,
        Some("cosine") => Schedule::Cosine,
        Some(other) => panic!("schedule {other}"),
    };
    let options = TrainOptions {
        batch_rows: 2,
        shuffle: false,
        steps: Some(count("steps")),
        adamw: AdamWOptions {
            lr: number("lr"),
            beta1: beta(0),
            beta2: beta(1),
            eps: number("eps"),
            weight_decay: number("weight_decay"),
        },
        clip: Some(number("max_grad_norm")),
        schedule,
        warmup_steps: count("warmup_steps"),
        progress: false,
        ..TrainOptions::default()
    };
    let mut subject = Subject::open(folder, device, policy);
    let dataset = load_jsonl(&home.join("train.jsonl"), None, subject.decoder.config().vocab, 4096).unwrap();
    let start = subject.adapter(&home.join("adapter_start"));
    let mut adapter = start.clone();
    let out = tempfile::tempdir().unwrap();
    let run = Run {
        folder: &out.path().join("run"),
        decoder: &subject.decoder,
        base: &subject.base,
        dataset: &dataset,
        options: &options,
        interrupt: &AtomicBool::new(false),
    };
    let report = train::run(&run, &mut subject.runtime, &mut adapter).unwrap();

    let saved = subject.adapter(&report.adapter);
    assert_eq!(saved.values, adapter.values);
    (report, adapter)
}

pub const CURVE: &str = "loss along 20 steps";
pub const NORMS: &str = "gradient norm along 20 steps";
pub const FINAL: &str = "adapter after 20 steps";

/// Worst relative deviation of a loss and of a gradient norm from PyTorch's, and that of the final adapter in L2, relative
/// to how far it moved.
pub struct Deviations {
    pub loss: f64,
    pub norm: f64,
    pub adapter: f64,
}

pub fn deviations(folder: &Path, device: DeviceKind, policy: PrecisionPolicy) -> Deviations {
    let (report, adapter) = train(folder, device, policy);
    let curve = json(&folder.join("train/curve.json"));
    let reference = curve["fp64"].as_array().unwrap();
    assert_eq!(report.metrics.len(), reference.len());
    let (mut loss, mut norm) = (0.0f64, 0.0f64);
    for (step, exact) in report.metrics.iter().zip(reference) {
        let value = |name: &str| exact[name].as_f64().unwrap();
        assert!((step.lr - value("lr")).abs() <= 1e-9 * value("lr"), "step {}: lr {}", step.step, step.lr);
        loss = loss.max((step.loss - value("loss")).abs() / value("loss"));
        norm = norm.max((step.grad_norm - value("grad_norm")).abs() / value("grad_norm"));
    }
    let subject = Subject::cpu(folder);
    let [start, exact] = ["train/adapter_start", "train/adapter_final"].map(|name| subject.adapter(&folder.join(name)));
    let distance = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
    };
    let adapter = distance(&adapter.values, &exact.values) / distance(&exact.values, &start.values);
    Deviations { loss, norm, adapter }
}

#[test]
fn twenty_steps_on_the_cpu() {
    for folder in folder::all().iter().filter(|folder| folder.join("train").is_dir()) {
        let off = deviations(folder, DeviceKind::Cpu, PrecisionPolicy::uniform(Precision::F32));
        let measured = Measured::new(folder, "20 steps", "CPU f32");
        measured.within(CURVE, off.loss, Tolerances::of(folder).curve);
        measured.within(NORMS, off.norm, 1e-3);
        measured.within(FINAL, off.adapter, 1e-2);
    }
}
