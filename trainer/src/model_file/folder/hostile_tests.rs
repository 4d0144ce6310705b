//! Folders made to break a reader: each ends in an error that names the problem.

use super::built::{Built, f32_bytes, weight_file, weights};
use crate::model_file::ModelFile;
use crate::text::tiny;
use serde_json::json;

/// Spoils the sound folder and expects a refusal that holds every one of `parts`.
#[track_caller]
fn refused(spoil: impl FnOnce(&mut Built), parts: &[&str]) {
    let mut built = Built::sound();
    spoil(&mut built);
    let (_folder, opened) = built.open();
    let error = opened.err().expect("the folder must be refused").to_string();
    for part in parts {
        assert!(error.contains(part), "`{error}` does not name `{part}`");
    }
}

/// A weight file with this JSON header and 64 bytes of data must be refused.
#[track_caller]
fn refused_header(header: &str, parts: &[&str]) {
    let spoil = |built: &mut Built| {
        built.file("model.safetensors", weight_file(header.as_bytes(), &[0; 64]));
    };
    refused(spoil, &[&["model.safetensors"], parts].concat());
}

#[test]
fn the_unspoiled_folder_opens() {
    Built::sound().open().1.map(drop).unwrap();
}

#[test]
fn row_14_header_length_lies() {
    for length in [u64::MAX, u64::MAX - 7, 1 << 40, 65] {
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.resize(72, b' ');
        let spoil = |built: &mut Built| {
            built.file("model.safetensors", bytes.clone());
        };
        refused(spoil, &["model.safetensors", "header claims", &length.to_string()]);
    }
    let spoil = |built: &mut Built| {
        built.file("model.safetensors", vec![0; 7]);
    };
    refused(spoil, &["7 bytes are too few"]);
}

#[test]
fn row_14_offsets_and_shapes_lie() {
    let tensor =
        |shape: &str, offsets: &str| format!(r#"{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#);
    for (shape, offsets) in [
        ("[16]", "[-64, 0]"),
        ("[16]", "[64, 0]"),
        ("[16]", "[4, 64]"),
        ("[16]", "[0, 60]"),
        ("[0, 18446744073709551615]", "[0, 64]"),
        ("[4294967296, 4294967296]", "[0, 64]"),
        ("[4611686018427387904]", "[0, 64]"),
        ("[16]", "[0, 18446744073709551615]"),
    ] {
        refused_header(&tensor(shape, offsets), &["damaged safetensors file"]);
    }
    refused_header(&tensor("[8]", "[0, 32]"), &["describes 32 bytes", "the file has 64"]);
    refused_header(&tensor("[32]", "[0, 128]"), &["describes 128 bytes", "truncated"]);
    refused_header("{", &["header"]);
    refused_header("[]", &["an object of tensors"]);
}

#[test]
fn row_14_empty_shapes() {
    let header = r#"{"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64]},"b":{"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[64,64]}}"#;
    refused_header(header, &["`b`", "empty shape"]);
}

#[test]
fn row_8_tensor_twice_and_overlapping() {
    let one = r#""a":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}"#;
    refused_header(&format!("{{{one},{one}}}"), &["tensor `a` appears twice"]);
    let other = r#""b":{"dtype":"F32","shape":[8],"data_offsets":[32,64]}"#;
    refused_header(&format!("{{{one},{other}}}"), &["damaged safetensors file"]);
}

#[test]
fn row_14_shard_index_outside_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("x.safetensors");
    std::fs::write(&file, weights(&Built::sound().tensors)).unwrap();
    for shard in [file.to_str().unwrap(), "../x.safetensors", "sub/x.safetensors", "./../x", "..", "", "."] {
        let spoil = |built: &mut Built| {
            built.tensors.clear();
            let index = json!({"weight_map": {"model.norm.weight": shard}});
            built.file("model.safetensors.index.json", index.to_string());
        };
        refused(spoil, &["model.safetensors.index.json", "not a file of this folder"]);
    }
}

#[test]
fn row_14_shard_index_that_does_not_fit() {
    let with_index = |map: serde_json::Value| {
        move |built: &mut Built| {
            let index = json!({"weight_map": map}).to_string();
            built.file("model.safetensors.index.json", index);
            let all = weights(&built.tensors);
            built.file("part-1.safetensors", all);
            built.tensors.clear();
        }
    };
    refused(with_index(json!({"model.norm.weight": "part-2.safetensors"})), &["`part-2.safetensors` is missing"]);
    refused(with_index(json!({"model.nothing": "part-1.safetensors"})), &["`model.nothing` is not in shard"]);
    refused(
        with_index(json!({"model.norm.weight": "part-1.safetensors"})),
        &["`model.embed_tokens.weight` is missing"],
    );
    refused(with_index(json!(3)), &["model.safetensors.index.json", "expected a map"]);
}

#[test]
fn row_7_weights_cut_short() {
    let whole = weights(&Built::sound().tensors);
    let spoil = |built: &mut Built| {
        built.file("model.safetensors", &whole[..whole.len() - 100]);
    };
    refused(spoil, &["truncated"]);
    let (folder, opened) = Built::sound().open();
    let tensors = opened.unwrap().tensors;
    let file = std::fs::OpenOptions::new().write(true).open(folder.path.join("model.safetensors"));
    file.unwrap().set_len(3000).unwrap();
    let error = tensors.read_f32("model.norm.weight").unwrap_err().to_string();
    assert!(error.contains("changed while in use"), "{error}");
}

#[test]
fn missing_parts() {
    let spoil = |built: &mut Built| built.tensors.clear();
    refused(spoil, &["model.safetensors", "no such file"]);
    let empty = tempfile::tempdir().unwrap();
    let error = ModelFile::open(empty.path()).err().unwrap().to_string();
    assert!(error.contains("config.json") && error.contains("no such file"), "{error}");
    let error = ModelFile::open("/nowhere/model".as_ref()).err().unwrap().to_string();
    assert!(error.contains("/nowhere/model") && error.contains("give a .gguf"), "{error}");
    let spoil = |built: &mut Built| {
        built.tensors.remove(4);
    };
    refused(spoil, &["model.layers.0.self_attn.k_proj.weight", "missing"]);
}

#[test]
fn configuration_values() {
    let set = |key: &'static str, value: serde_json::Value| move |built: &mut Built| built.config[key] = value;
    refused(set("model_type", json!("mistral")), &["architecture `mistral`", "supported: llama"]);
    refused(set("model_type", json!(null)), &["no model_type", "supported: llama"]);
    refused(set("hidden_size", json!(-3)), &["config.json", "-3"]);
    refused(set("hidden_size", json!(null)), &["hidden_size", "missing"]);
    refused(set("num_hidden_layers", json!(0)), &["layers", "0 is outside"]);
    refused(set("num_hidden_layers", json!(1u64 << 60)), &["layers", "outside"]);
    refused(set("num_key_value_heads", json!(0)), &["kv_heads"]);
    refused(set("head_dim", json!(15)), &["head_dim", "odd"]);
    refused(set("rms_norm_eps", json!(0)), &["norm_eps"]);
    refused(set("rope_theta", json!(0.0)), &["theta"]);
    refused(set("hidden_act", json!("gelu")), &["hidden_act", "gelu", "silu"]);
    refused(set("attention_bias", json!(true)), &["attention_bias"]);
    refused(set("rope_scaling", json!({"type": "yarn"})), &["rope_scaling.rope_type", "yarn", "llama3"]);
    refused(
        set("rope_parameters", json!({"rope_type": "llama3", "factor": 32.0})),
        &["rope_parameters.low_freq_factor", "missing"],
    );
    refused(
        set(
            "rope_scaling",
            json!({"rope_type": "llama3", "factor": 0.5, "low_freq_factor": 1.0,
                   "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}),
        ),
        &["rope scaling", "factor >= 1"],
    );
    let spoil = |built: &mut Built| {
        built.file("config.json", "{\"model_type\": \"llama\",");
    };
    refused(spoil, &["config.json", "line 1", "fetch it again"]);
}

#[test]
fn row_10_special_token_out_of_range() {
    let spoil = |built: &mut Built| built.config["eos_token_id"] = json!(129);
    refused(spoil, &["eos_token_id", "129", "128 tokens"]);
    let spoil = |built: &mut Built| built.config["bos_token_id"] = json!([128]);
    refused(spoil, &["bos_token_id", "128"]);
}

#[test]
fn tensors_against_the_configuration() {
    let spoil = |built: &mut Built| built.config["vocab_size"] = json!(127);
    refused(spoil, &["model.embed_tokens.weight", "[127, 32]", "[128, 32]"]);
    let spoil = |built: &mut Built| {
        let bias = ("model.layers.0.self_attn.q_proj.bias".into(), "F32", vec![1], vec![0; 4]);
        built.tensors.push(bias);
    };
    refused(spoil, &["q_proj.bias", "no place in a llama model"]);
    let spoil = |built: &mut Built| {
        built.tensors[1] = ("model.norm.weight".into(), "I32", vec![32], vec![0; 128]);
    };
    refused(spoil, &["model.norm.weight", "I32", "F32, F16, BF16"]);
    let spoil = |built: &mut Built| built.config["tie_word_embeddings"] = json!(false);
    refused(spoil, &["lm_head.weight", "missing"]);
}

#[test]
fn weights_that_are_not_finite_are_reported() {
    let mut built = Built::sound();
    built.tensors[1].3 = f32_bytes((0..32).map(|index| if index == 7 { f32::NAN } else { 1.0 }));
    let (_folder, opened) = built.open();
    let error = opened.unwrap().tensors.read_f32("model.norm.weight").unwrap_err();
    assert!(error.to_string().contains("`model.norm.weight` holds NaN at index 7"), "{error}");
}

#[test]
fn tokenizers_that_do_not_fit() {
    let tokenizer = tiny::parts().build().unwrap().to_string(false).unwrap();
    let good = tokenizer.clone();
    let spoil = |built: &mut Built| {
        let mut json: serde_json::Value = serde_json::from_str(&good).unwrap();
        json["model"]["vocab"]["one too many"] = json!(128);
        built.file("tokenizer.json", json.to_string());
    };
    refused(spoil, &["tokenizer has 129 tokens", "128 rows", "different models"]);
    let good = tokenizer.clone();
    let spoil = |built: &mut Built| {
        built.file("tokenizer.json", good.clone());
        built.file("tokenizer_config.json", r#"{"eos_token": "</s>"}"#);
    };
    refused(spoil, &["tokenizer_config.json", "`</s>` is not a token"]);
    let spoil = |built: &mut Built| {
        built.file("tokenizer.json", "{}");
    };
    refused(spoil, &["tokenizer.json", "tokenizer cannot be used"]);
    let spoil = |built: &mut Built| {
        built.file("tokenizer.json", tokenizer.clone());
        built.file("chat_template.jinja", "{% if");
    };
    refused(spoil, &["chat_template.jinja", "does not compile"]);
}
