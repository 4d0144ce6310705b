//! A real model against numbers from PyTorch: SmolLM2-135M-Instruct, its Q4_1 file dequantised, all in f32.
//!
//! The model is not part of the project. `permafrost fetch` puts it into the user's cache; `PERMAFROST_SMOLLM2` names
//! another place. Without it the tests say so and pass, unless `CI` or `PERMAFROST_REQUIRE_MODEL` is set.

use std::env;
use std::path::PathBuf;

use hexagon_runtime::{DeviceKind, Precision, Runtime, RuntimeBuilder, RuntimeConfig};
use serde::Deserialize;
use trainer::architecture::{Decoder, Sequence};
use trainer::demo::cached_smollm2;
use trainer::eval::{Subject, greedy, token_nll};
use trainer::model_file::ModelFile;
use trainer::registry::PrecisionPolicy;
use trainer::text::{Message, TextModel};

#[derive(Deserialize)]
struct Goldens {
    smollm2_135m_q4_1_dequant_f32: Golden,
}

#[derive(Deserialize)]
struct Golden {
    text: String,
    ids: Vec<u32>,
    nll: Vec<f64>,
    ppl: f64,
    argmax: Vec<u32>,
    last_logits_first8: Vec<f32>,
    chat_prompt: String,
    chat_ids: Vec<u32>,
    greedy: Vec<u32>,
}

struct SmolLm2 {
    golden: Golden,
    text: TextModel,
    decoder: Decoder,
    runtime: Runtime,
}

/// The model on the CPU device in f32; nothing, with a notice, when it is not there and need not be.
fn smollm2() -> Option<SmolLm2> {
    let named = env::var_os("PERMAFROST_SMOLLM2").map(PathBuf::from);
    let Some(path) = named.or_else(cached_smollm2) else {
        let notice = "SmolLM2 is not in the cache: run `permafrost fetch` or set PERMAFROST_SMOLLM2 to its .gguf file";
        let required = ["CI", "PERMAFROST_REQUIRE_MODEL"].iter().any(|name| env::var_os(name).is_some());
        assert!(!required, "{notice}");
        eprintln!("skipped: {notice}");
        return None;
    };
    let goldens: Goldens = serde_json::from_str(include_str!("../reference/smollm2-goldens.json")).unwrap();
    let model = ModelFile::open(&path).unwrap();
    let config = RuntimeConfig { device: DeviceKind::Cpu, precision: Precision::F32, ..RuntimeConfig::default() };
    let mut builder = RuntimeBuilder::new(config);
    let decoder = Decoder::load(&model, &mut builder, PrecisionPolicy::uniform(Precision::F32)).unwrap();
    let runtime = builder.start().unwrap();
    let text = model.text.expect("the file carries its tokenizer");
    Some(SmolLm2 { golden: goldens.smollm2_135m_q4_1_dequant_f32, text, decoder, runtime })
}

#[test]
fn perplexity_and_every_token() {
    let Some(SmolLm2 { golden, text, decoder, mut runtime }) = smollm2() else { return };
    assert_eq!(text.encode(&golden.text, false).unwrap(), golden.ids);
    let mut subject = Subject { decoder: &decoder, runtime: &mut runtime, adapter: None };
    let nll = token_nll(&mut subject, &golden.ids).unwrap();
    assert_eq!(nll.len(), golden.nll.len());
    for (token, (ours, theirs)) in nll.iter().zip(&golden.nll).enumerate() {
        assert!((ours - theirs).abs() < 2e-3, "token {token}: −log p is {ours}, PyTorch says {theirs}");
    }
    let perplexity = (nll.iter().sum::<f64>() / nll.len() as f64).exp();
    assert!((perplexity - golden.ppl).abs() < 0.01, "perplexity {perplexity}, PyTorch says {}", golden.ppl);
}

#[test]
fn logits_and_their_argmax() {
    let Some(SmolLm2 { golden, decoder, mut runtime, .. }) = smollm2() else { return };
    let sequence = Sequence { labels: vec![-100; golden.ids.len()], ids: golden.ids.clone(), position: 0 };
    let logits = decoder.logits(&mut runtime, None, &[sequence]).unwrap();
    let rows: Vec<&[f32]> = logits.chunks_exact(decoder.config().vocab).collect();
    let argmax: Vec<u32> = rows.iter().map(|row| largest(row)).collect();
    assert_eq!(argmax[..golden.argmax.len()], golden.argmax);
    // The row that predicts the text's last token.
    let last = rows[golden.argmax.len() - 1];
    for (ours, theirs) in last.iter().zip(&golden.last_logits_first8) {
        assert!((ours - theirs).abs() < 2e-3, "logit {ours}, PyTorch says {theirs}");
    }
}

#[test]
fn greedy_answer() {
    let Some(SmolLm2 { golden, text, decoder, mut runtime }) = smollm2() else { return };
    let question = [Message::new("user", "What is the capital of France?")];
    let prompt = text.chat_template().unwrap().render(&question, true).unwrap();
    assert_eq!(prompt, golden.chat_prompt);
    let ids = text.encode(&prompt, true).unwrap();
    assert_eq!(ids, golden.chat_ids);
    let mut subject = Subject { decoder: &decoder, runtime: &mut runtime, adapter: None };
    let answer = greedy(&mut subject, &ids, text.eos(), 20).unwrap();
    assert_eq!(answer, golden.greedy);
    assert_eq!(text.decode(&answer).unwrap(), "The capital of France is Paris.");
}

fn largest(row: &[f32]) -> u32 {
    (0..row.len()).fold(0, |best, id| if row[id] > row[best] { id } else { best }) as u32
}
