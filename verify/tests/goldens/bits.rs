//! What must not change a bit: overlap, and whether activations are stored or computed again.

use super::case;
use super::folder::{self, Subject};
use hexagon_runtime::{DeviceKind, Precision};
use trainer::adapter::AdapterGrads;
use trainer::architecture::{Activations, StepOptions};
use trainer::nodes::DropoutKey;

fn same_bits(device: DeviceKind, precision: Precision) {
    let folder = &folder::all()[0];
    let mut subject = Subject::open(folder, device, precision);
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
    same_bits(DeviceKind::Cpu, Precision::F32);
}

#[test]
fn overlap_and_recomputing_change_no_bit_on_the_npu() {
    same_bits(DeviceKind::Model { checked: false }, Precision::F16);
}
