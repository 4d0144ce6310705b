//! What must not change a bit: overlap, whether activations are stored or computed again, and threads.

use super::case;
use super::folder::{self, Subject};
use hexagon_runtime::{DeviceKind, Precision};
use std::path::Path;
use trainer::adapter::AdapterGrads;
use trainer::architecture::{Activations, StepOptions};
use trainer::nodes::DropoutKey;
use trainer::registry::PrecisionPolicy;

fn same_bits(folder: &Path, device: DeviceKind, precision: Precision) {
    let mut subject = Subject::open(folder, device, PrecisionPolicy::uniform(precision));
    let mut adapter = subject.adapter(&folder.join("adapter_init"));
    for dropout in [0.0, 0.2] {
        adapter.dropout = dropout;
        for case in case::all(folder).iter().filter(|case| !case.is_cotangent()) {
            let mut first: Option<(u64, AdapterGrads)> = None;
            for activations in [Activations::Store, Activations::Recompute] {
                for overlap in [true, false] {
                    let dropout = DropoutKey { seed: 5, step: 2, first_token: 7 };
                    let options = StepOptions { activations, overlap, dropout, ..StepOptions::default() };
                    let mut grads = AdapterGrads::zeros(&adapter);
                    let loss = subject
                        .decoder
                        .loss_and_grad(&mut subject.runtime, &adapter, &case.batch, &options, &mut grads)
                        .unwrap();
                    let (bits, expected) = first.get_or_insert_with(|| (loss.sum_nll.to_bits(), grads.clone()));
                    assert_eq!(loss.sum_nll.to_bits(), *bits, "{}: loss", case.name);
                    let equal = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
                    assert!(
                        grads.values.iter().zip(&expected.values).all(equal),
                        "{}: {activations:?} {overlap}",
                        case.name
                    );
                }
            }
        }
    }
}

#[test]
fn overlap_and_recomputing_change_no_bit_on_the_cpu() {
    folder::all().iter().for_each(|folder| same_bits(folder, DeviceKind::Cpu, Precision::F32));
}

#[test]
fn overlap_and_recomputing_change_no_bit_on_the_npu() {
    let device = DeviceKind::Model { checked: false };
    folder::all().iter().for_each(|folder| same_bits(folder, device, Precision::F16));
}

#[test]
fn threads_change_no_bit() {
    for folder in folder::all() {
        let mut subject = Subject::cpu(&folder);
        let adapter = subject.adapter(&folder.join("adapter_init"));
        let cases = case::all(&folder);
        let mut run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut grads = AdapterGrads::zeros(&adapter);
            let mut losses = Vec::new();
            for case in &cases {
                let (decoder, runtime) = (&subject.decoder, &mut subject.runtime);
                let options = StepOptions::default();
                let step = || decoder.loss_and_grad(runtime, &adapter, &case.batch, &options, &mut grads).unwrap();
                losses.push(pool.install(step).sum_nll.to_bits());
            }
            (losses, grads.values)
        };
        let (one, three) = (run(1), run(3));
        assert_eq!(one.0, three.0, "{}: losses", folder.display());
        assert!(one.1 == three.1, "{}: gradients", folder.display());
    }
}
