//! Real files, which are not part of the project.
//! - SmolLM2-135M-Instruct.Q4_1.gguf from the user's cache (`permafrost fetch`) or from `PERMAFROST_SMOLLM2`. A missing one
//!   is a notice, and a failure where `CI` or `PERMAFROST_REQUIRE_MODEL` is set.
//! - `PERMAFROST_VOCABULARIES`: the folder `models` of llama.cpp, with its `ggml-vocab-*.gguf` and their test vectors. The
//!   test command does not fetch it; without it those tests say so.

use super::header::Header;
use super::metadata::Metadata;
use super::tokenizer;
use crate::model_file::source_file::SourceFile;
use crate::model_file::{ModelError, ModelFile};
use crate::text::{Message, SpecialTokens, TextModel};
use std::path::{Path, PathBuf};

fn smollm2() -> Option<PathBuf> {
    let path = std::env::var_os("PERMAFROST_SMOLLM2").map(PathBuf::from).or_else(crate::demo::cached_smollm2);
    if path.is_none() {
        let required = ["CI", "PERMAFROST_REQUIRE_MODEL"].iter().any(|name| std::env::var_os(name).is_some());
        assert!(!required, "SmolLM2 is not in the cache: run `permafrost fetch` or set PERMAFROST_SMOLLM2");
        eprintln!("skipped: SmolLM2 is not in the cache");
    }
    path
}

fn vocabularies() -> Option<PathBuf> {
    let path = std::env::var_os("PERMAFROST_VOCABULARIES").map(PathBuf::from);
    if path.is_none() {
        eprintln!("skipped: PERMAFROST_VOCABULARIES is not set");
    }
    path
}

#[test]
fn smollm2_configuration_and_text() {
    let Some(path) = smollm2() else { return };
    let model = ModelFile::open(&path).unwrap();
    let config = &model.config;
    assert_eq!((config.layers, config.hidden, config.intermediate), (30, 576, 1536));
    assert_eq!((config.heads, config.kv_heads, config.head_dim), (9, 3, 64));
    assert_eq!((config.vocab, config.norm_eps, config.rope.theta), (49_152, 1e-5, 1e5));
    assert!(config.tied_head && config.rope.scaling.is_none());

    let text = model.text.unwrap();
    assert_eq!((text.eos(), text.bos(), text.adds_bos(), text.size()), (Some(2), Some(1), false, 49_152));
    let plain = "The quick brown fox jumps over the lazy dog. In 1969, Neil Armstrong became the \
                 first person to walk on the Moon, and millions of people around the world watched \
                 the event live on television.";
    let ids = [
        504, 2365, 6354, 16438, 27003, 690, 260, 23790, 2767, 30, 533, 216, 33, 41, 38, 41, 28, 27639, 24955, 2163,
        260, 808, 1055, 288, 4549, 335, 260, 8872, 28, 284, 5711, 282, 701, 1130, 260, 905, 12635, 260, 2121, 2330,
        335, 8552, 30,
    ];
    assert_eq!(text.encode(plain, true).unwrap(), ids);
    assert_eq!(text.decode(&ids).unwrap(), plain);
    let question = [Message::new("user", "What is the capital of France?")];
    let prompt = text.chat_template().unwrap().render(&question, true).unwrap();
    assert_eq!(
        prompt,
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging \
         Face<|im_end|>\n<|im_start|>user\nWhat is the capital of France?<|im_end|>\n\
         <|im_start|>assistant\n"
    );
    let ids = [
        1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018, 411, 407, 19712, 8182, 2,
        198, 1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198,
    ];
    assert_eq!(text.encode(&prompt, true).unwrap(), ids);
}

/// Sums of all values weighted 1..=17 by flat index, by the `gguf` Python package (0.19.0) with the
/// rows of q and k put in half-split order.
#[test]
fn smollm2_weights() {
    let Some(path) = smollm2() else { return };
    let tensors = ModelFile::open(&path).unwrap().tensors;
    for (name, wanted) in [
        ("model.embed_tokens.weight", -135714.74162721634),
        ("model.layers.0.self_attn.q_proj.weight", 396.45257568359375),
        ("model.layers.29.self_attn.k_proj.weight", 835.0868530273438),
        ("model.layers.7.mlp.down_proj.weight", -2474.7460021972656),
        ("model.norm.weight", 9372.55859375),
    ] {
        let values = tensors.read_f32(name).unwrap();
        let sum: f64 =
            values.iter().enumerate().map(|(index, &value)| f64::from(value) * (index % 17 + 1) as f64).sum();
        assert!((sum - wanted).abs() <= 1e-6 * wanted.abs().max(1.0), "{name}: {sum}");
    }
    assert!(tensors.q8_0_blocks("model.embed_tokens.weight").unwrap().is_some());
    for name in tensors.names() {
        tensors.read_f32(&name).unwrap();
    }
    assert_eq!(tensors.fingerprint().unwrap(), tensors.fingerprint().unwrap());
}

fn metadata(path: &Path) -> Result<Metadata, ModelError> {
    Ok(Header::read(&SourceFile::open(path)?)?.metadata)
}

/// Each `.inp` holds texts, each `.out` line the ids the model's own tokenizer gave.
#[test]
fn published_tokenizer_vectors() {
    let Some(folder) = vocabularies() else { return };
    let folder = &folder;
    for name in ["gpt-2", "llama-bpe", "qwen2"] {
        let path = folder.join(format!("ggml-vocab-{name}.gguf"));
        let parts = tokenizer::read_parts(&metadata(&path).unwrap()).unwrap();
        let model = TextModel::new(parts.build().unwrap(), SpecialTokens::default(), None);
        let beside = |ending: &str| std::fs::read_to_string(format!("{}.{ending}", path.display())).unwrap();
        let (texts, ids) = (beside("inp"), beside("out"));
        let texts: Vec<&str> = texts.split("\n__ggml_vocab_test__\n").collect();
        let ids: Vec<&str> = ids.lines().collect();
        assert!(texts.len() >= ids.len() && ids.len() >= 40, "{name}");
        for (text, ids) in texts.iter().zip(ids) {
            let wanted: Vec<u32> = ids.split_whitespace().map(|id| id.parse().unwrap()).collect();
            assert_eq!(model.encode(text, true).unwrap(), wanted, "{name}: {text:?}");
        }
    }
}

/// Every vocabulary file parses, version 2 among them, whatever tokenizer it holds.
#[test]
fn published_vocabulary_files_parse() {
    let Some(folder) = vocabularies() else { return };
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "gguf") {
            let metadata = metadata(&path).unwrap_or_else(|error| panic!("{error}"));
            assert!(metadata.string("general.architecture").unwrap().is_some());
            count += 1;
        }
    }
    assert!(count >= 10, "{count} files");
}
