//! The same model stored otherwise: weights rounded to BF16, and a multimodal checkpoint in shards.

use super::case;
use super::folder::{self, Subject, json};
use super::measured::Measured;
use super::tensors::{self, deviation};
use std::path::Path;
use trainer::adapter::Adapter;

/// Logits and loss of case c0, with the adapter and the batch of the plain folder.
fn check(folder: &Path, stored: &str, logits_file: &str, section: &str, loss_key: &str) {
    let mut subject = Subject::cpu(&folder.join(stored));
    let adapter = Adapter::load(&folder.join("adapter_init"), subject.decoder.projections(), &subject.base).unwrap();
    let case = case::all(folder).into_iter().find(|case| case.name.ends_with("c0")).unwrap();
    let (decoder, runtime) = (&subject.decoder, &mut subject.runtime);
    let logits = decoder.logits(runtime, Some(&adapter), &case.batch).unwrap();
    let reference = tensors::read(&folder.join(stored).join(logits_file));
    let off = deviation(logits.iter().map(|v| f64::from(*v)), &reference["logits"].values, 0.0);
    let loss = decoder.loss(runtime, Some(&adapter), &case.batch).unwrap();
    let exact = json(&folder.join("golden.json"))[section][loss_key].as_f64().unwrap();
    let loss_off = (loss.sum_nll / loss.targets as f64 - exact).abs() / exact;
    let measured = Measured::new(folder, "c0", format!("CPU f32, {stored}"));
    measured.within("logits", off, 1e-4);
    measured.within("loss", loss_off, 1e-5);
}

#[test]
fn weights_in_bf16() {
    let folders: Vec<_> = folder::all().into_iter().filter(|folder| folder.join("bf16").is_dir()).collect();
    assert!(!folders.is_empty());
    for folder in folders {
        let file = "c0_weights_bf16_compute_fp32.safetensors";
        check(&folder, "bf16", file, "bf16", "loss_weights_bf16_compute_f64");
    }
}

#[test]
fn multimodal_checkpoints_in_shards() {
    let folders: Vec<_> = folder::all().into_iter().filter(|folder| folder.join("hub_layout").is_dir()).collect();
    assert!(!folders.is_empty());
    for folder in folders {
        check(&folder, "hub_layout", "c0_compute_fp32.safetensors", "hub_layout", "loss_c0_compute_f64");
    }
}
