//! Twenty optimizer steps against PyTorch's.

use super::folder::{self, Subject, json};
use hexagon_runtime::{DeviceKind, Precision};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use trainer::data::load_jsonl;
use trainer::optimizer::{AdamWOptions, Schedule};
use trainer::train::{self, Run, TrainOptions};

/// Trains as `train/curve.json` says; gives the worst relative deviation of a loss, and that of the
/// final adapter in L2, relative to how far it moved.
pub fn deviations(folder: &Path, device: DeviceKind, precision: Precision) -> (f64, f64) {
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
    let mut subject = Subject::open(folder, device, precision);
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

    let reference = curve["fp64"].as_array().unwrap();
    assert_eq!(report.metrics.len(), reference.len());
    let mut worst = 0.0f64;
    for (step, exact) in report.metrics.iter().zip(reference) {
        let value = |name: &str| exact[name].as_f64().unwrap();
        assert!((step.lr - value("lr")).abs() <= 1e-9 * value("lr"), "step {}: lr {}", step.step, step.lr);
        worst = worst.max((step.loss - value("loss")).abs() / value("loss"));
        let norm_off = (step.grad_norm - value("grad_norm")).abs() / value("grad_norm");
        assert!(norm_off < 2e-2, "step {}: gradient norm {}", step.step, step.grad_norm);
    }
    let saved = subject.adapter(&report.adapter);
    assert_eq!(saved.values, adapter.values);
    let exact = subject.adapter(&home.join("adapter_final"));
    let distance = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
    };
    let moved = distance(&exact.values, &start.values);
    let adapter_off = distance(&saved.values, &exact.values) / moved;
    println!("{} {precision:?}: curve {worst:.1e}, adapter {adapter_off:.1e}", folder.display());
    (worst, adapter_off)
}

#[test]
fn twenty_steps_on_the_cpu() {
    for folder in folder::all().iter().filter(|folder| folder.join("train").is_dir()) {
        let (curve, adapter) = deviations(folder, DeviceKind::Cpu, Precision::F32);
        assert!(curve <= 1e-4, "{}: curve {curve:e}", folder.display());
        assert!(adapter <= 1e-2, "{}: adapter {adapter:e}", folder.display());
    }
}
