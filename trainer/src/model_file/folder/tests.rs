//! What a sound folder gives.

use super::built::{Built, weights};
use crate::registry::{Llama3Scaling, Rope};
use crate::text::{Message, tiny};
use half::{bf16, f16};
use serde_json::json;

#[test]
fn both_spellings_of_rope() {
    let scaling = json!({
        "rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    });
    let wanted = Rope {
        theta: 500_000.0,
        scaling: Some(Llama3Scaling { factor: 32.0, low_freq: 1.0, high_freq: 4.0, original_positions: 8192.0 }),
    };
    let mut built = Built::sound();
    built.config["rope_scaling"] = scaling.clone();
    built.config["rope_scaling"]["type"] = json!("llama3");
    assert_eq!(built.open().1.unwrap().config.rope, wanted);
    let mut built = Built::sound();
    built.config["rope_theta"] = json!(null);
    built.config["rope_parameters"] = scaling;
    built.config["rope_parameters"]["rope_theta"] = json!(500_000.0);
    assert_eq!(built.open().1.unwrap().config.rope, wanted);
    let plain = Built::sound().open().1.unwrap().config.rope;
    assert_eq!(plain.scaling, None);
    assert_eq!(plain.theta, 500_000.0);
}

#[test]
fn half_types_become_f32() {
    let mut built = Built::sound();
    let bytes = (0..32).flat_map(|index| bf16::from_f32(index as f32).to_le_bytes());
    built.tensors[1] = ("model.norm.weight".into(), "BF16", vec![32], bytes.collect());
    let name = "model.layers.0.input_layernorm.weight";
    let bytes = (0..32).flat_map(|index| f16::from_f32(index as f32).to_le_bytes());
    built.tensors[2] = (name.into(), "F16", vec![32], bytes.collect());
    let (_folder, opened) = built.open();
    let tensors = opened.unwrap().tensors;
    let wanted: Vec<f32> = (0..32).map(|index| index as f32).collect();
    assert_eq!(tensors.read_f32("model.norm.weight").unwrap(), wanted);
    assert_eq!(tensors.read_f32(name).unwrap(), wanted);
    assert_eq!(tensors.q8_0_blocks(name).unwrap(), None);
}

/// The same weights in one file or in two are the same base.
#[test]
fn shards_give_the_same_tensors_and_fingerprint() {
    let mut built = Built::sound();
    let (_folder, opened) = built.open();
    let single = opened.unwrap();
    let tensors = std::mem::take(&mut built.tensors);
    let (first, second) = tensors.split_at(5);
    built.file("model-1.safetensors", weights(first));
    built.file("model-2.safetensors", weights(second));
    let map: serde_json::Map<String, serde_json::Value> = tensors
        .iter()
        .enumerate()
        .map(|(index, tensor)| {
            let shard = if index < 5 { 1 } else { 2 };
            (tensor.0.clone(), json!(format!("model-{shard}.safetensors")))
        })
        .collect();
    built.file("model.safetensors.index.json", json!({"weight_map": map}).to_string());
    let (_folder, opened) = built.open();
    let sharded = opened.unwrap();
    assert_eq!(sharded.tensors.names(), single.tensors.names());
    for name in single.tensors.names() {
        let values = sharded.tensors.read_f32(&name).unwrap();
        assert_eq!(values, single.tensors.read_f32(&name).unwrap());
    }
    assert_eq!(sharded.tensors.fingerprint().unwrap(), single.tensors.fingerprint().unwrap());
}

#[test]
fn a_folder_without_tokenizer_opens_without_text() {
    assert!(Built::sound().open().1.unwrap().text.is_none());
}

#[test]
fn tokenizer_and_template_are_found() {
    let tokenizer = tiny::parts().build().unwrap().to_string(false).unwrap();
    let mut built = Built::sound();
    built.file("tokenizer.json", tokenizer);
    let (_folder, opened) = built.open();
    let text = opened.unwrap().text.unwrap();
    assert_eq!((text.eos(), text.bos()), (Some(2), Some(1)), "those of config.json");
    assert!(text.chat_template().is_none());

    let side = json!({
        "eos_token": {"content": "<|endoftext|>"},
        "bos_token": null,
        "chat_template": [{"name": "tools", "template": "no"}, {"name": "default", "template": "{{ eos_token }}!"}],
    });
    built.file("tokenizer_config.json", side.to_string());
    let (_folder, opened) = built.open();
    let text = opened.unwrap().text.unwrap();
    assert_eq!(text.eos(), Some(0), "tokenizer_config.json wins");
    let messages = [Message::new("user", "x")];
    let render = |text: &crate::text::TextModel| text.chat_template().unwrap().render(&messages, false).unwrap();
    assert_eq!(render(&text), "<|endoftext|>!");

    built.file("chat_template.jinja", "jinja file");
    let (_folder, opened) = built.open();
    assert_eq!(render(&opened.unwrap().text.unwrap()), "jinja file");
}

/// A checkpoint of the multimodal class: the text model nested, and parts that are none of its business.
#[test]
fn only_the_text_part_of_a_multimodal_checkpoint_is_taken() {
    let sound = || {
        let mut built = Built::sound();
        built.config["model_type"] = json!("qwen3_5_text");
        for (key, value) in [
            ("linear_num_key_heads", 1),
            ("linear_num_value_heads", 2),
            ("linear_key_head_dim", 4),
            ("linear_value_head_dim", 3),
            ("linear_conv_kernel_dim", 4),
        ] {
            built.config[key] = json!(value);
        }
        built.config["layer_types"] = json!(["full_attention"]);
        let query = built.tensors.iter_mut().find(|tensor| tensor.0.ends_with("q_proj.weight")).unwrap();
        query.2[0] *= 2;
        query.3 = query.3.repeat(2);
        for part in ["q_norm", "k_norm"] {
            let name = format!("model.layers.0.self_attn.{part}.weight");
            built.tensors.push((name, "F32", vec![16], vec![0; 64]));
        }
        built
    };
    let (_folder, opened) = sound().open();
    let plain = opened.unwrap();
    let mut built = sound();
    built.config = json!({"model_type": "qwen3_5", "text_config": built.config});
    for tensor in &mut built.tensors {
        tensor.0 = tensor.0.replace("model.", "model.language_model.");
    }
    built.tensors.push(("model.visual.patch_embed.proj.weight".into(), "I32", vec![1, 1, 1, 1, 1], vec![0; 4]));
    built.tensors.push(("mtp.fc.weight".into(), "F32", vec![1], vec![0; 4]));
    let (_folder, opened) = built.open();
    let nested = opened.unwrap();
    assert_eq!(nested.config, plain.config);
    assert_eq!(nested.tensors.names(), plain.tensors.names());
    assert_eq!(nested.tensors.fingerprint().unwrap(), plain.tensors.fingerprint().unwrap());
    // Two layouts in one folder would leave the choice to chance.
    built.tensors.push(("model.norm.weight".into(), "F32", vec![32], vec![0; 128]));
    let error = built.open().1.err().unwrap().to_string();
    assert!(error.contains("model.norm.weight") && error.contains("model.language_model.norm.weight"), "{error}");
}
