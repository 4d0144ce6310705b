//! The NPU path (functional model) against the CPU device on the same effective weights, and
//! against PyTorch's curve.

use super::case;
use super::cases::{named, run};
use super::curve::{CURVE, FINAL, NORMS, deviations};
use super::folder::{self, Subject};
use super::measured::{Measured, gradient_kind};
use super::tensors::deviation;
use hexagon_runtime::{DeviceKind, Precision};
use std::path::{Path, PathBuf};
use trainer::adapter::AdapterGrads;
use trainer::registry::PrecisionPolicy;

const NPU: DeviceKind = DeviceKind::Model { checked: false };

fn compare(folder: &Path, policy: PrecisionPolicy) {
    let mut npu = Subject::open(folder, NPU, policy);
    let mut cpu = Subject::open(folder, DeviceKind::Cpu, policy);
    let adapter = cpu.adapter(&folder.join("adapter_init"));
    for case in case::all(folder) {
        let measured = Measured::new(folder, &case.label, format!("NPU {policy}"));
        let logits =
            |subject: &mut Subject| subject.decoder.logits(&mut subject.runtime, Some(&adapter), &case.batch).unwrap();
        let [found, exact] = [&mut npu, &mut cpu].map(|subject| logits(subject).into_iter().map(f64::from));
        measured.within("logits", deviation(found, &exact.collect::<Vec<f64>>(), 0.0), 1e-2);
        let (mut on_npu, mut on_cpu) = (AdapterGrads::zeros(&adapter), AdapterGrads::zeros(&adapter));
        let (npu_loss, _) = run(&mut npu, &adapter, &case, &mut on_npu);
        let (cpu_loss, _) = run(&mut cpu, &adapter, &case, &mut on_cpu);
        if let Some((npu, cpu)) = npu_loss.zip(cpu_loss) {
            measured.within("loss", (npu - cpu).abs() / cpu, 2e-3);
        }
        compare_directions(&measured, &named(&adapter, &on_npu), &named(&adapter, &on_cpu));
    }
    let counters = npu.runtime.counters();
    assert!(counters.forward > 0 && counters.input_grad > 0, "nothing ran on the NPU");
    assert_eq!(counters.fallbacks, 0);
}

/// 1 − cosine of every gradient; one that is nothing beside the largest has no direction.
fn compare_directions(measured: &Measured, npu: &[(String, &[f32])], cpu: &[(String, &[f32])]) {
    let dot = |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum() };
    let largest = cpu.iter().map(|(_, g)| dot(g, g).sqrt()).fold(0.0, f64::max);
    for ((name, npu), (_, cpu)) in npu.iter().zip(cpu) {
        let norm = dot(cpu, cpu).sqrt();
        if norm > 1e-6 * largest {
            let cosine = dot(npu, cpu) / (norm * dot(npu, npu).sqrt());
            measured.within(&gradient_kind(name), 1.0 - cosine, 5e-4);
        }
    }
}

#[test]
fn f16_against_the_cpu_device() {
    folder::all().iter().for_each(|folder| compare(folder, PrecisionPolicy::uniform(Precision::F16)));
}

#[test]
fn q8_against_the_cpu_device() {
    folder::all().iter().for_each(|folder| compare(folder, PrecisionPolicy::uniform(Precision::Q8)));
}

/// What runs on a phone: recurrent projections in FP16, the others in Q8.
#[test]
fn the_default_policy_against_the_cpu_device() {
    folder::all().iter().filter(|folder| is_hybrid(folder)).for_each(|folder| compare(folder, PrecisionPolicy::NPU));
}

fn is_hybrid(folder: &Path) -> bool {
    folder::config(folder).delta_net.is_some()
}

/// Folders with a training curve.
fn curves() -> impl Iterator<Item = PathBuf> {
    folder::all().into_iter().filter(|folder| folder.join("train").is_dir())
}

/// Trains 20 steps and holds the losses, and without a delta rule the gradient's norms, against PyTorch's.
fn train(folder: &Path, policy: PrecisionPolicy, curve: f64) {
    let off = deviations(folder, NPU, policy);
    let measured = Measured::new(folder, "20 steps", format!("NPU {policy}"));
    measured.within(CURVE, off.loss, curve);
    // The delta rule is worse conditioned: FP16 moves single gradients of a tiny hybrid model more than that.
    match is_hybrid(folder) {
        true => measured.noted(NORMS, off.norm),
        false => measured.within(NORMS, off.norm, 2e-2),
    }
    measured.noted(FINAL, off.adapter);
}

#[test]
fn twenty_steps_in_f16_against_pytorch() {
    curves().for_each(|folder| train(&folder, PrecisionPolicy::uniform(Precision::F16), 3e-3));
}

/// Q8 of tiny random models is off by up to 2 %, which says nothing about Q8; the test is that training goes the same way.
#[test]
fn twenty_steps_in_the_default_policy_against_pytorch() {
    curves().for_each(|folder| train(&folder, PrecisionPolicy::NPU, 2e-2));
}
