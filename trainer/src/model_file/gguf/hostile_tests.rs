//! Files made to break a reader: each ends in an error that names the problem, without hanging and
//! without allocating what the file claims.

use super::built::{ARRAY, Built, F32, I32, STRING, U8, U32, U64, array, f32_bytes, open_bytes, text, texts, tokens};
use crate::model_file::ModelFile;
use crate::text::tiny;
use std::time::{Duration, Instant};

/// The file must be refused, at once, with a text that holds every one of `parts`.
#[track_caller]
fn refused_bytes(bytes: &[u8], parts: &[&str]) {
    let start = Instant::now();
    let (_file, opened) = open_bytes(bytes);
    let took = start.elapsed();
    let error = opened.err().expect("the file must be refused").to_string();
    for part in parts {
        assert!(error.contains(part), "`{error}` does not name `{part}`");
    }
    assert!(took < Duration::from_secs(1), "took {took:?}");
}

/// Spoils the sound file and expects a refusal.
#[track_caller]
fn refused(spoil: impl FnOnce(&mut Built), parts: &[&str]) {
    let mut built = Built::sound();
    spoil(&mut built);
    refused_bytes(&built.bytes(), parts);
}

#[test]
fn the_unspoiled_file_opens() {
    Built::sound().open().map(drop).unwrap();
}

#[test]
fn not_a_gguf_file() {
    refused_bytes(b"", &["not a GGUF file"]);
    refused_bytes(b"GGU", &["not a GGUF file"]);
    refused_bytes(b"PK\x03\x04 and more", &["not a GGUF file"]);
    refused(|built| built.version = 1, &["version 1", "2 and 3"]);
    refused(|built| built.version = 3 << 24, &["big-endian"]);
}

#[test]
fn row_1_totals_that_wrap() {
    for count in [u64::MAX, 1 << 62, u64::MAX / 33 + 1] {
        let parts = ["tensor count", "only", "bytes of the file are left"];
        refused(|built| built.tensor_count = Some(count), &parts);
        let parts = ["metadata count", "only", "bytes of the file are left"];
        refused(|built| built.key_count = Some(count), &parts);
    }
    let spoil = |built: &mut Built| {
        built.tensor("output_norm.weight").offset = Some(u64::MAX - 31);
    };
    refused(spoil, &["output_norm.weight", "past the file's"]);
}

#[test]
fn row_2_lengths_without_bound() {
    let huge = (1u64 << 63).to_le_bytes().to_vec();
    let spoil = |built: &mut Built| {
        built.set("general.name", STRING, huge.clone());
    };
    refused(spoil, &["general.name", "9223372036854775808"]);
    for kind in [U8, STRING, I32, U64] {
        let value = array(kind, 1 << 62, &[]);
        let spoil = |built: &mut Built| {
            built.set("tokenizer.ggml.scores", ARRAY, value.clone());
        };
        refused(spoil, &["tokenizer.ggml.scores", "4611686018427387904"]);
    }
    let nested = array(ARRAY, 1 << 62, &array(ARRAY, 1 << 62, &[]));
    let spoil = |built: &mut Built| {
        built.set("general.nest", ARRAY, nested.clone());
    };
    refused(spoil, &["general.nest", "array of arrays"]);
    // An honest array of strings of which one lies.
    let lying = array(STRING, 1, &huge);
    for key in ["general.languages", "tokenizer.ggml.tokens"] {
        let spoil = |built: &mut Built| {
            built.set(key, ARRAY, lying.clone());
        };
        refused(spoil, &[key]);
    }
}

#[test]
fn row_3_zero_dimension() {
    let spoil = |built: &mut Built| built.tensor("blk.0.attn_q.weight").extents[1] = 0;
    refused(spoil, &["blk.0.attn_q.weight", "dimension 1 is 0"]);
}

#[test]
fn row_4_alignment() {
    for value in [0u32, 3, 48, 1 << 31, 1 << 17] {
        let spoil = |built: &mut Built| {
            built.set("general.alignment", U32, value.to_le_bytes().into());
        };
        refused(spoil, &["general.alignment", &value.to_string(), "powers of two"]);
    }
    let spoil = |built: &mut Built| {
        built.set("general.alignment", STRING, text("32"));
    };
    refused(spoil, &["general.alignment", "not an unsigned number"]);
    let spoil = |built: &mut Built| {
        built.set("general.alignment", F32, f32_bytes([32.0]));
    };
    refused(spoil, &["general.alignment", "not an unsigned number"]);
}

#[test]
fn row_5_too_many_dimensions() {
    let spoil = |built: &mut Built| built.tensor("output_norm.weight").extents = vec![1; 9];
    refused(spoil, &["output_norm.weight", "9 dimensions"]);
    let spoil = |built: &mut Built| built.tensor("output_norm.weight").extents = vec![];
    refused(spoil, &["output_norm.weight", "0 dimensions"]);
    // 2^32 - 1 dimensions, which are not there.
    let built = Built::sound();
    let mut bytes = built.bytes();
    let name = b"output_norm.weight";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap() + name.len();
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    refused_bytes(&bytes, &["output_norm.weight", "4294967295 dimensions"]);
}

#[test]
fn row_6_element_count_that_wraps() {
    for extents in [vec![1 << 32, 1 << 32], vec![1 << 62], vec![u64::MAX - 31, 2], vec![1 << 21, 1 << 21, 1 << 21, 2]] {
        let spoil = |built: &mut Built| {
            built.tensor("output_norm.weight").extents = extents.clone();
        };
        refused(spoil, &["output_norm.weight", "does not fit 64 bits"]);
    }
}

#[test]
fn row_7_data_past_the_end() {
    let whole = Built::sound().bytes();
    // In the data, in the tensor directory, in the metadata, in the counts.
    let data = &whole[..whole.len() - 4096];
    refused_bytes(data, &["past the file's", "truncated"]);
    for len in [5, 15, 23, 40, 300, 2000] {
        let error = open_bytes(&whole[..len]).1.err().unwrap().to_string();
        assert!(error.contains("truncated") || error.contains("damaged"), "{len}: {error}");
    }
}

#[test]
fn row_7_every_cut_of_the_file_is_refused() {
    let whole = Built::sound().bytes();
    for len in (0..whole.len() - 32).step_by(97) {
        assert!(open_bytes(&whole[..len]).1.is_err(), "cut at {len}");
    }
}

#[test]
fn row_7_cut_after_opening() {
    let (file, opened) = open_bytes(&Built::sound().bytes());
    let model = opened.unwrap();
    let name = "model.layers.0.mlp.down_proj.weight";
    assert!(model.tensors.read_f32(name).is_ok());
    let open = std::fs::OpenOptions::new().write(true).open(&file.path);
    open.unwrap().set_len(4096).unwrap();
    let error = model.tensors.read_f32(name).unwrap_err().to_string();
    assert!(error.contains("changed while in use"), "{error}");
    let error = model.tensors.fingerprint().unwrap_err().to_string();
    assert!(error.contains("changed while in use"), "{error}");
}

#[test]
fn row_8_duplicate_overlapping_misaligned() {
    let spoil = |built: &mut Built| {
        let again = built.tensor("output_norm.weight").clone();
        built.tensors.push(again);
    };
    refused(spoil, &["tensor `output_norm.weight` appears twice"]);
    let spoil = |built: &mut Built| built.tensor("output_norm.weight").offset = Some(32);
    refused(spoil, &["overlaps", "token_embd.weight", "output_norm.weight"]);
    let spoil = |built: &mut Built| built.tensor("output_norm.weight").offset = Some(8);
    refused(spoil, &["output_norm.weight", "not a multiple of the alignment 32"]);
    let mut built = Built::sound();
    built.keys.push(super::built::Key { name: "llama.block_count".into(), kind: U32, value: vec![2, 0, 0, 0] });
    refused_bytes(&built.bytes(), &["key `llama.block_count` appears twice"]);
    // Two names in the file for one place in the model.
    let spoil = |built: &mut Built| {
        built.add_f32("blk.00.attn_norm.weight", &[32]);
    };
    refused(spoil, &["blk.00.attn_norm.weight", "no place in a llama model"]);
}

#[test]
fn row_9_keys_and_vocabulary_types() {
    let spoil = |built: &mut Built| {
        built.set("", U32, vec![0; 4]);
    };
    refused(spoil, &["metadata key", "name is empty"]);
    let spoil = |built: &mut Built| built.tensor("output_norm.weight").name = String::new();
    refused(spoil, &["tensor name", "name is empty"]);
    let spoil = |built: &mut Built| built.tensor("output_norm.weight").name = "x".repeat(65);
    refused(spoil, &["tensor name", "65 bytes"]);
    let count = tokens().len() as u64;
    let spoil = |built: &mut Built| {
        let value = array(U8, count, &vec![1; count as usize]);
        built.set("tokenizer.ggml.token_type", ARRAY, value);
    };
    refused(spoil, &["tokenizer.ggml.token_type", "array of i32", "u8"]);
    let spoil = |built: &mut Built| {
        let value = array(F32, count, &vec![0; count as usize * 4]);
        built.set("tokenizer.ggml.tokens", ARRAY, value);
    };
    refused(spoil, &["tokenizer.ggml.tokens", "array of strings", "f32"]);
    let spoil = |built: &mut Built| {
        built.set("general.odd", 77, vec![]);
    };
    refused(spoil, &["general.odd", "unknown type 77"]);
    let spoil = |built: &mut Built| {
        built.set("general.flag", 7, vec![2]);
    };
    refused(spoil, &["general.flag", "bool"]);
    let spoil = |built: &mut Built| {
        built.set("llama.block_count", STRING, text("1"));
    };
    refused(spoil, &["llama.block_count", "whole number", "a string"]);
}

#[test]
fn row_10_special_token_out_of_range() {
    let size = tokens().len() as u32;
    for key in ["eos_token_id", "bos_token_id", "padding_token_id"] {
        for id in [size, size + 1, u32::MAX] {
            let spoil = |built: &mut Built| {
                let key = format!("tokenizer.ggml.{key}");
                built.set(&key, U32, id.to_le_bytes().into());
            };
            refused(spoil, &[key, &id.to_string(), &size.to_string()]);
        }
    }
}

#[test]
fn row_11_merges_that_break_the_tokenizer() {
    let long = "x".repeat(1 << 16);
    for merge in [&format!("h {long}"), "h", "h x", ""] {
        let spoil = |built: &mut Built| {
            built.set("tokenizer.ggml.merges", ARRAY, texts([merge]));
        };
        refused(spoil, &["merge 0"]);
    }
    let spoil = |built: &mut Built| {
        let mut tokens = tokens();
        tokens[70] = "he".into();
        let value = texts(tokens.iter().map(String::as_str));
        built.set("tokenizer.ggml.tokens", ARRAY, value);
    };
    refused(spoil, &["token `he` appears twice"]);
}

#[test]
fn row_13_template_that_does_not_compile() {
    let spoil = |built: &mut Built| {
        built.set("tokenizer.chat_template", STRING, text("{% for x in"));
    };
    refused(spoil, &["chat template does not compile"]);
}

#[test]
fn unsupported_kinds_say_what_is_supported() {
    let set = |key: &'static str, value: &'static str| {
        move |built: &mut Built| {
            built.set(key, STRING, text(value));
        }
    };
    refused(set("general.architecture", "qwen2moe"), &["architecture `qwen2moe`", "supported: llama"]);
    refused(set("tokenizer.ggml.pre", "tekken"), &["pre-tokenizer `tekken`", "smollm"]);
    refused(set("tokenizer.ggml.model", "llama"), &["model `llama`", "supported: gpt2"]);
    refused(set("llama.rope.scaling.type", "yarn"), &["llama.rope.scaling.type", "yarn"]);
    let spoil = |built: &mut Built| built.tensor("blk.0.ffn_up.weight").element = 10;
    refused(spoil, &["blk.0.ffn_up.weight", "Q2_K", "Q6_K"]);
    let spoil = |built: &mut Built| {
        built.set("split.count", U32, 3u32.to_le_bytes().into());
    };
    refused(spoil, &["3 parts", "merge"]);
}

#[test]
fn configuration_and_tensors_must_agree() {
    let number = |key: &'static str, value: u32| {
        move |built: &mut Built| {
            built.set(key, U32, value.to_le_bytes().into());
        }
    };
    refused(number("llama.block_count", 2), &["model.layers.1.", "missing"]);
    refused(number("llama.block_count", u32::MAX), &["layers", "4294967295"]);
    refused(number("llama.attention.head_count", 0), &["0 heads"]);
    refused(number("llama.attention.head_count_kv", 3), &["kv_heads"]);
    refused(number("llama.feed_forward_length", 96), &["model.layers.0.mlp.gate_proj.weight", "[96, 32]", "[64, 32]"]);
    refused(number("llama.vocab_size", 7), &["llama.vocab_size", "embedding has 101 rows"]);
    let spoil = |built: &mut Built| {
        built.remove("llama.context_length");
    };
    refused(spoil, &["llama.context_length", "missing"]);
    let spoil = |built: &mut Built| {
        built.tensor("token_embd.weight").extents[1] -= 1;
    };
    refused(spoil, &["tokenizer has 101 tokens", "embedding has 100 rows"]);
    let spoil = |built: &mut Built| {
        built.add_f32("blk.0.attn_q.bias", &[32]);
    };
    refused(spoil, &["layers.0.self_attn.q_proj.bias", "no place"]);
    let spoil = |built: &mut Built| {
        built.set("llama.attention.layer_norm_rms_epsilon", F32, f32_bytes([f32::NAN]));
    };
    refused(spoil, &["norm_eps", "NaN"]);
}

#[test]
fn weights_that_are_not_finite_are_reported() {
    for value in [f32::NAN, f32::INFINITY] {
        let mut built = Built::sound();
        built.tensor("blk.0.ffn_up.weight").data[40..44].copy_from_slice(&value.to_le_bytes());
        let (_file, opened) = open_bytes(&built.bytes());
        let tensors = opened.unwrap().tensors;
        let error = tensors.read_f32("model.layers.0.mlp.up_proj.weight");
        let error = error.unwrap_err().to_string();
        assert!(error.contains("model.layers.0.mlp.up_proj.weight"), "{error}");
        assert!(error.contains("at index 10"), "{error}");
    }
}

/// With any byte of the header changed (every fifth is tried) the file opens or is refused; nothing
/// panics.
#[test]
fn a_changed_byte_of_the_header_cannot_break_the_reader() {
    let mut built = Built::sound();
    built.set("tokenizer.chat_template", STRING, text(tiny::CHATML));
    let whole = built.bytes();
    let data: usize = built.tensors.iter().map(|tensor| tensor.data.len()).sum();
    let header = whole.len() - data;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    let (mut opened, mut refused) = (0, 0);
    for at in (0..header).step_by(5) {
        let change = [0x01, 0x80, 0xff][at % 3];
        let mut bytes = whole.clone();
        bytes[at] ^= change;
        std::fs::write(&path, &bytes).unwrap();
        match ModelFile::open(&path) {
            Ok(model) => {
                opened += 1;
                for name in model.tensors.names() {
                    let _ = model.tensors.read_f32(&name);
                }
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains("failed inside"), "byte {at}: {error}");
            }
        }
    }
    assert!(opened > 0 && refused > header / 10, "{opened} opened, {refused} refused");
}
