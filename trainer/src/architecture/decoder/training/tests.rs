//! The tape against the figures it was decided by.

use super::*;
use crate::adapter::AdapterOptions;
use crate::architecture::tape::Activations;
use crate::memory::layer_activations;
use crate::model_file::ModelFile;
use crate::registry::{Architecture, PrecisionPolicy};
use crate::synth::{FloatType, Synth, small, write};
use hexagon_runtime::{DeviceKind, Precision, RuntimeBuilder, RuntimeConfig};

fn loaded(architecture: Architecture) -> (Decoder, Runtime, Adapter) {
    let folder = tempfile::tempdir().unwrap();
    let (config, float) = (small(architecture), FloatType::F32);
    let synth = Synth { config, layers: None, seed: 1, float, tokenizer: false, shard_bytes: 1 << 30 };
    write(folder.path(), &synth, &mut |_, _| ()).unwrap();
    let model = ModelFile::open(folder.path()).unwrap();
    let config = RuntimeConfig { device: DeviceKind::Cpu, precision: Precision::F32, ..RuntimeConfig::default() };
    let mut builder = RuntimeBuilder::new(config);
    let decoder = Decoder::load(&model, &mut builder, PrecisionPolicy::uniform(Precision::F32)).unwrap();
    let options = AdapterOptions { rank: Some(4), ..AdapterOptions::default() };
    let adapter = Adapter::fresh(decoder.projections(), &options).unwrap();
    (decoder, builder.start().unwrap(), adapter)
}

fn batch() -> Vec<Sequence> {
    let sequence = |length: u32| {
        let ids: Vec<u32> = (0..length).map(|t| 7 * t % 290).collect();
        Sequence { labels: ids.iter().map(|&id| id as i32).collect(), ids, position: 0 }
    };
    vec![sequence(17), sequence(5)]
}

#[test]
fn a_stored_layer_holds_what_was_predicted() {
    for architecture in Architecture::ALL {
        let (decoder, mut runtime, adapter) = loaded(architecture);
        let (batch, options) = (batch(), StepOptions::default());
        let mut pass = decoder.training_pass(&mut runtime, &adapter, &batch, &options);
        let (_, kept) = decoder.forward(&mut pass, decoder.embed(&batch), Some((&adapter, &options))).unwrap();
        assert_eq!(kept.len(), decoder.config().layers);
        for (layer, kept) in kept.iter().enumerate() {
            let predicted = layer_activations(decoder.config(), layer, &[17, 5], 4);
            assert_eq!(4 * kept.x.len() as u64, predicted.input, "{architecture:?} {layer}");
            let tape = kept.tape.as_ref().unwrap();
            assert_eq!(4 * tape.values() as u64, predicted.stored(), "{architecture:?} {layer}");
        }
    }
}

#[test]
fn a_budget_in_bytes_stores_some_layers_and_changes_no_bit() {
    for architecture in [Architecture::Llama, Architecture::Qwen3_5] {
        let (decoder, mut runtime, adapter) = loaded(architecture);
        let batch = batch();
        let mut gradient = |activations| {
            let options = StepOptions { activations, ..StepOptions::default() };
            let mut grads = AdapterGrads::zeros(&adapter);
            let loss = decoder.loss_and_grad(&mut runtime, &adapter, &batch, &options, &mut grads)?;
            let bits: Vec<u32> = grads.values.iter().map(|value| value.to_bits()).collect();
            Ok::<_, ArchitectureError>((loss.sum_nll.to_bits(), bits))
        };
        let layers = layer_bytes(decoder.config(), 0..5, &[17, 5], 4);
        let [all, none] = [Activations::Store, Activations::Recompute].map(|a| a.choose(&layers).unwrap().peak);
        let some = Activations::Within((all + none) / 2);
        assert!((1..5).contains(&some.choose(&layers).unwrap().recomputed().len()));
        let stored = gradient(Activations::Store).unwrap();
        assert!(gradient(some).unwrap() == stored && gradient(Activations::Within(none)).unwrap() == stored);
        let error = gradient(Activations::Within(none - 1)).unwrap_err().to_string();
        assert!(error.contains(&none.to_string()) && error.contains("--activation-bytes"), "{error}");
    }
}
