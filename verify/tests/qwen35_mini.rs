//! A small model of the Qwen3.5 text architecture with trained weights, made for this project, against transformers in
//! f32: tokens, losses, argmax, a greedy answer, and scores of choices that share a prompt.

use hexagon_runtime::{DeviceKind, Precision, Runtime, RuntimeBuilder, RuntimeConfig};
use serde::Deserialize;
use std::path::Path;
use trainer::architecture::{Decoder, Sequence};
use trainer::eval::{Question, Subject, choice_scores, greedy, token_nll};
use trainer::model_file::ModelFile;
use trainer::registry::PrecisionPolicy;
use trainer::text::{Message, TextModel};

#[derive(Deserialize)]
struct Golden {
    text: String,
    ids: Vec<u32>,
    loss: f64,
    nll: Vec<f64>,
    argmax: Vec<u32>,
    chat_prompt: String,
    chat_ids: Vec<u32>,
    greedy: Vec<u32>,
    greedy_text: String,
}

struct Mini {
    golden: Golden,
    text: TextModel,
    decoder: Decoder,
    runtime: Runtime,
}

fn mini(device: DeviceKind, policy: PrecisionPolicy) -> Mini {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference/mini/qwen35-mini");
    let golden = serde_json::from_slice(&std::fs::read(folder.join("golden.json")).unwrap()).unwrap();
    let model = ModelFile::open(&folder).unwrap();
    let mut builder = RuntimeBuilder::new(RuntimeConfig { device, ..RuntimeConfig::default() });
    let decoder = Decoder::load(&model, &mut builder, policy).unwrap();
    Mini { golden, text: model.text.unwrap(), decoder, runtime: builder.start().unwrap() }
}

const NPU: DeviceKind = DeviceKind::Model { checked: false };

fn on_cpu() -> Mini {
    mini(DeviceKind::Cpu, PrecisionPolicy::uniform(Precision::F32))
}

fn largest(row: &[f32]) -> u32 {
    (0..row.len()).fold(0, |best, id| if row[id] > row[best] { id } else { best }) as u32
}

#[test]
fn every_token_of_a_text() {
    let Mini { golden, text, decoder, mut runtime } = on_cpu();
    assert_eq!(text.encode(&golden.text, false).unwrap(), golden.ids);
    let mut subject = Subject { decoder: &decoder, runtime: &mut runtime, adapter: None };
    let nll = token_nll(&mut subject, &golden.ids).unwrap();
    assert_eq!(nll.len(), golden.nll.len());
    let worst = nll.iter().zip(&golden.nll).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    let loss = nll.iter().sum::<f64>() / nll.len() as f64;
    println!("worst token {worst:.1e}, loss {loss}");
    assert!(worst < 1e-4, "a token's -log p is off by {worst:e}");
    assert!((loss - golden.loss).abs() < 1e-5 * golden.loss, "loss {loss}, transformers says {}", golden.loss);
    let sequence = Sequence { labels: vec![-100; golden.ids.len()], ids: golden.ids.clone(), position: 0 };
    let logits = decoder.logits(&mut runtime, None, &[sequence]).unwrap();
    let argmax: Vec<u32> = logits.chunks_exact(decoder.config().vocab).map(largest).collect();
    assert_eq!(argmax, golden.argmax);
}

/// Token by token from the states the cache keeps, on the CPU and on the NPU in FP16.
#[test]
fn greedy_answer() {
    let npu = mini(NPU, PrecisionPolicy::uniform(Precision::F16));
    for (device, Mini { golden, text, decoder, mut runtime }) in [("cpu", on_cpu()), ("npu", npu)] {
        let question = golden.chat_prompt.strip_prefix("<|im_start|>user\n").unwrap();
        let question = [Message::new("user", question.split("<|im_end|>").next().unwrap())];
        let prompt = text.chat_template().unwrap().render(&question, true).unwrap();
        assert_eq!(prompt, golden.chat_prompt);
        assert_eq!(text.encode(&prompt, true).unwrap(), golden.chat_ids);
        let mut subject = Subject { decoder: &decoder, runtime: &mut runtime, adapter: None };
        let answer = greedy(&mut subject, &golden.chat_ids, text.eos(), 40).unwrap();
        let (end, expected) = golden.greedy.split_last().unwrap();
        assert_eq!((answer.as_slice(), Some(*end)), (expected, text.eos()), "{device}");
        assert_eq!(text.decode(&answer).unwrap(), golden.greedy_text.strip_suffix("<|im_end|>").unwrap());
        assert_eq!(runtime.counters().fallbacks, 0);
    }
}

/// Choices that share a prompt, and prompts that share a beginning, score as whole conversations do.
#[test]
fn shared_prompts_change_no_score() {
    let Mini { text, decoder, mut runtime, .. } = on_cpu();
    let names = ["aplay", "xterm", "a terminal", "mail"].map(str::to_owned);
    let asked = ["Name this program: A player.", "Name this program: A reader of mail for a terminal."];
    let questions: Vec<Question> = asked.iter().map(|user| Question::new(&text, user, &names).unwrap()).collect();
    let mut subject = Subject { decoder: &decoder, runtime: &mut runtime, adapter: None };
    let scores = choice_scores(&mut subject, &questions, &mut |_| ()).unwrap();
    for (question, scores) in questions.iter().zip(&scores) {
        for (choice, score) in scores.iter().enumerate() {
            let nll = token_nll(&mut subject, &question.sample(choice, 1).ids).unwrap();
            // The first number belongs to the second token.
            let alone = -nll[question.prompt.len() - 1..].iter().sum::<f64>();
            assert!((score - alone).abs() < 1e-4, "{score} in the tree, {alone} alone");
        }
    }
}

/// Recurrent projections in FP16, the others in Q8: the NPU against the CPU device on the same effective weights.
#[test]
fn the_default_policy_on_the_npu() {
    let [npu, cpu] = [NPU, DeviceKind::Cpu].map(|device| {
        let Mini { golden, decoder, mut runtime, .. } = mini(device, PrecisionPolicy::NPU);
        let mut subject = Subject { decoder: &decoder, runtime: &mut runtime, adapter: None };
        let nll = token_nll(&mut subject, &golden.ids).unwrap();
        let counters = runtime.counters();
        assert_eq!(counters.forward_f16 > 0 && counters.forward_q8 > 0, device == NPU, "{counters:?}");
        assert_eq!(counters.fallbacks, 0);
        nll.iter().sum::<f64>() / nll.len() as f64
    });
    println!("loss {npu} on the NPU, {cpu} on the CPU device");
    assert!((npu - cpu).abs() <= 2e-3 * cpu, "{npu} on the NPU, {cpu} on the CPU device");
}
