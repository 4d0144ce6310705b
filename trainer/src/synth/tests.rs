//! What a made folder holds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{DEFAULT_SHARD_BYTES, FloatType, Synth, SynthError, small, write};
use crate::model_file::{ModelFile, parse_config};
use crate::registry::{Architecture, ModelConfig, preset_names};

fn synth(config: ModelConfig) -> Synth {
    let (layers, seed, tokenizer) = (None, 7, false);
    Synth { config, layers, seed, float: FloatType::Bf16, tokenizer, shard_bytes: DEFAULT_SHARD_BYTES }
}

fn make(folder: &Path, synth: &Synth) -> ModelFile {
    write(folder, synth, &mut |_, _| ()).unwrap();
    ModelFile::open(folder).unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
}

#[test]
fn every_architecture_opens_with_the_same_configuration() {
    for architecture in Architecture::ALL {
        let folder = tempfile::tempdir().unwrap();
        let synth = synth(small(architecture));
        let mut seen = (0, 0);
        let made = write(folder.path(), &synth, &mut |done, total| seen = (done, total)).unwrap();
        assert_eq!((seen, made.files), ((made.bytes, made.bytes), 1), "{architecture:?}");
        let model = ModelFile::open(folder.path()).unwrap();
        assert_eq!(model.config, synth.config, "{architecture:?}");
        assert_eq!(made.parameters, synth.config.parameters());
        assert!(model.text.is_none());
    }
}

#[test]
fn presets_survive_their_config_json() {
    for name in preset_names() {
        let config = ModelConfig::preset(name).unwrap().1;
        let json = super::config_json::config_json(&config, FloatType::Bf16, None).to_string();
        assert_eq!(parse_config(Path::new("config.json"), json.as_bytes()).unwrap(), config, "{name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_does_not() {
    let [first, again, other] = [7, 7, 8].map(|seed| {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), &Synth { seed, tokenizer: true, ..synth(small(Architecture::Qwen3_5)) });
        files(folder.path())
    });
    assert_eq!(
        first.keys().collect::<Vec<_>>(),
        ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    );
    assert!(first == again);
    assert_ne!(first["model.safetensors"], other["model.safetensors"]);
}

#[test]
fn norms_decays_and_matrices_have_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let float = FloatType::F32;
    let model = make(folder.path(), &Synth { float, ..synth(small(Architecture::Qwen3_5)) });
    let read = |name: &str| model.tensors.read_f32(name).unwrap();
    let all = |name: &str, value: f32| assert!(read(name).iter().all(|x| *x == value), "{name}");
    all("model.norm.weight", 0.0);
    all("model.layers.0.input_layernorm.weight", 0.0);
    all("model.layers.3.self_attn.q_norm.weight", 0.0);
    all("model.layers.0.linear_attn.norm.weight", 1.0);
    all("model.layers.0.linear_attn.dt_bias", 1.0);
    let (low, high) = (0.01f32.ln() - 1e-5, 16f32.ln() + 1e-5);
    let decays = read("model.layers.0.linear_attn.A_log");
    assert!(decays.iter().all(|x| (low..=high).contains(x)) && decays[0] != decays[1], "{decays:?}");
    for name in ["lm_head.weight", "model.embed_tokens.weight", "model.layers.4.linear_attn.in_proj_qkv.weight"] {
        let values = read(name);
        let mean = values.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / values.len() as f64;
        assert!((mean.sqrt() - 0.02).abs() < 0.001, "{name}: {}", mean.sqrt());
    }
    let folder = tempfile::tempdir().unwrap();
    let plain = make(folder.path(), &synth(small(Architecture::Llama)));
    assert!(plain.tensors.read_f32("model.norm.weight").unwrap().iter().all(|x| *x == 1.0));
}

#[test]
fn shards_and_fewer_layers_hold_the_same_values() {
    let folder = tempfile::tempdir().unwrap();
    let whole = make(&folder.path().join("whole"), &synth(small(Architecture::Qwen3_5)));
    let cut = Synth { layers: Some(4), shard_bytes: 20_000, ..synth(small(Architecture::Qwen3_5)) };
    let few = make(&folder.path().join("few"), &cut);
    let names = files(&folder.path().join("few"));
    assert!(
        names.contains_key("model.safetensors.index.json") && names.keys().any(|n| n.starts_with("model-00002-of-"))
    );
    assert_eq!(few.config, small(Architecture::Qwen3_5).first_layers(4));
    for name in few.tensors.names() {
        assert_eq!(few.tensors.read_f32(&name).unwrap(), whole.tensors.read_f32(&name).unwrap(), "{name}");
    }
}

#[test]
fn types_round_the_same_values() {
    let folder = tempfile::tempdir().unwrap();
    let [wide, half, brain] = [FloatType::F32, FloatType::F16, FloatType::Bf16].map(|float| {
        let path = folder.path().join(format!("{float:?}"));
        let model = make(&path, &Synth { float, layers: Some(1), ..synth(small(Architecture::Llama)) });
        model.tensors.read_f32("model.layers.0.mlp.up_proj.weight").unwrap()
    });
    assert!(wide.iter().zip(&half).all(|(w, h)| half::f16::from_f32(*w).to_f32() == *h));
    assert!(wide.iter().zip(&brain).all(|(w, b)| half::bf16::from_f32(*w).to_f32() == *b));
}

#[test]
fn the_tiny_tokenizer_has_a_token_for_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let model = make(folder.path(), &Synth { tokenizer: true, ..synth(small(Architecture::Llama)) });
    let text = model.text.unwrap();
    let words = "Straße, 漢字 and\n\ttabs";
    let ids = text.encode(words, false).unwrap();
    assert_eq!(ids.len(), words.len());
    assert_eq!(text.decode(&ids).unwrap(), words);
}

#[test]
fn refusals_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let error = |synth: &Synth| write(folder.path(), synth, &mut |_, _| ()).unwrap_err().to_string();
    let llama = || synth(small(Architecture::Llama));
    assert!(error(&Synth { layers: Some(6), ..llama() }).contains("--layers from 1 to 5"));
    assert!(error(&Synth { layers: Some(0), ..llama() }).contains("--layers from 1 to 5"));
    let tiny = ModelConfig { vocab: 100, ..small(Architecture::Llama) };
    assert!(error(&Synth { tokenizer: true, ..synth(tiny) }).contains("259 tokens"));
    fs::write(folder.path().join("x"), "").unwrap();
    assert!(matches!(write(folder.path(), &llama(), &mut |_, _| ()), Err(SynthError::NotEmpty { .. })));
}
