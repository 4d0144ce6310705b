//! Logits, loss and gradients on the CPU device in f32.

use super::case::{self, Case};
use super::folder::{self, Subject, Tolerances};
use super::measured::{Measured, gradient_kind};
use super::tensors::deviation;
use trainer::adapter::{Adapter, AdapterGrads};
use trainer::architecture::{Sequence, StepOptions};

/// Runs a case: loss (None for a cotangent case) and the gradient of the embedding output.
pub fn run(subject: &mut Subject, adapter: &Adapter, case: &Case, grads: &mut AdapterGrads) -> (Option<f64>, Vec<f32>) {
    let targets: usize = case.batch.iter().map(Sequence::targets).sum();
    let options = StepOptions { loss_scale: 1.0, inputs_embeds_grad: true, ..StepOptions::default() };
    let (decoder, runtime) = (&subject.decoder, &mut subject.runtime);
    if case.is_cotangent() {
        let cotangent: Vec<f32> = case.packed("cotangent").iter().map(|v| *v as f32).collect();
        let dx = decoder.grad_from_cotangent(runtime, adapter, &case.batch, &cotangent, &options, grads).unwrap();
        return (None, dx);
    }
    assert_eq!(Some(targets as u64), case.info["targets"].as_u64(), "{}: targets", case.name);
    let options = StepOptions { loss_scale: 1.0 / targets as f32, ..options };
    let loss = decoder.loss_and_grad(runtime, adapter, &case.batch, &options, grads).unwrap();
    assert_eq!(loss.targets, targets);
    (Some(loss.sum_nll / targets as f64), loss.inputs_embeds_grad.unwrap())
}

/// Gradients by PEFT name.
pub fn named<'a>(adapter: &Adapter, grads: &'a AdapterGrads) -> Vec<(String, &'a [f32])> {
    let parts = |pair: &trainer::adapter::LoraPair| {
        let name = |part| format!("base_model.model.{}.lora_{part}.weight", pair.shape.name);
        [(name("A"), &grads.values[pair.a.clone()]), (name("B"), &grads.values[pair.b.clone()])]
    };
    adapter.pairs().iter().flat_map(parts).collect()
}

#[test]
fn logits_loss_and_gradients_on_the_cpu() {
    for folder in folder::all() {
        let mut subject = Subject::cpu(&folder);
        let adapter = subject.adapter(&folder.join("adapter_init"));
        for case in case::all(&folder) {
            let measured = Measured::new(&folder, &case.label, "CPU f32");
            check(&mut subject, &adapter, &case, &measured, &Tolerances::of(&folder));
        }
    }
}

fn check(subject: &mut Subject, adapter: &Adapter, case: &Case, measured: &Measured, tolerances: &Tolerances) {
    let logits = subject.decoder.logits(&mut subject.runtime, Some(adapter), &case.batch).unwrap();
    let off = deviation(logits.iter().map(|v| f64::from(*v)), &case.packed("logits"), 0.0);
    measured.within("logits", off, 1e-4);

    let mut grads = AdapterGrads::zeros(adapter);
    let (loss, dx) = run(subject, adapter, case, &mut grads);
    if let Some(loss) = loss {
        let exact = case.info["loss_f64"].as_f64().unwrap();
        let off = (loss - exact).abs() / exact.abs();
        measured.within("loss", off, 1e-5);
        let plain = subject.decoder.loss(&mut subject.runtime, Some(adapter), &case.batch).unwrap();
        assert_eq!(plain.sum_nll / plain.targets as f64, loss);
    }
    let off = deviation(dx.iter().map(|v| f64::from(*v)), &case.packed("inputs_embeds_grad"), 0.0);
    measured.within("gradient of the embedding output", off, tolerances.gradient);

    let found = named(adapter, &grads);
    let norms = case.info["grad_norms_f64"].as_object().unwrap();
    assert_eq!(norms.len(), found.len());
    let largest_norm = norms.values().filter_map(|v| v.as_f64()).fold(0.0, f64::max);
    for (name, grad) in &found {
        let norm = grad.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        let exact = norms[name].as_f64().unwrap();
        let off = (norm - exact).abs() / exact.max(1e-6 * largest_norm);
        measured.within("norm of any gradient", off, tolerances.gradient);
    }
    let reference = case.grads();
    let largest = reference.iter().flat_map(|(_, g)| g.iter()).fold(0.0f64, |m, g| m.max(g.abs()));
    for (name, exact) in &reference {
        let (_, grad) = found.iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("no gradient {name}"));
        let off = deviation(grad.iter().map(|g| f64::from(*g)), exact, 1e-6 * largest);
        measured.within(&gradient_kind(name), off, tolerances.gradient);
    }
}
