//! What configurations of the Qwen families give, and what is refused.

use super::config::parse_config;
use crate::registry::{Architecture, ModelConfig};
use serde_json::{Value, json};
use std::path::Path;

fn parse(json: &Value) -> Result<ModelConfig, String> {
    parse_config(Path::new("config.json"), json.to_string().as_bytes()).map_err(|error| error.to_string())
}

fn hybrid() -> Value {
    json!({
        "model_type": "qwen3_5_text", "hidden_size": 64, "num_hidden_layers": 4, "intermediate_size": 96,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 320,
        "max_position_embeddings": 4096, "rms_norm_eps": 1e-6, "tie_word_embeddings": true, "hidden_act": "silu",
        "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4, "rope_theta": 1e7,
    })
}

/// The config as the hub's multimodal checkpoints nest it.
fn nested() -> Value {
    let mut text = hybrid();
    text.as_object_mut().unwrap().remove("tie_word_embeddings");
    json!({"model_type": "qwen3_5", "tie_word_embeddings": true, "eos_token_id": 3, "text_config": text,
           "vision_config": {"depth": 1, "hidden_size": "not ours to read"}})
}

fn refused(config: &Value, parts: &[&str]) {
    let error = parse(config).unwrap_err();
    assert!(parts.iter().all(|part| error.contains(part)), "`{error}` lacks one of {parts:?}");
}

#[test]
fn layers_come_from_the_list_or_from_the_interval() {
    let layers = |config: &Value| parse(config).unwrap().delta_net.unwrap().recurrent;
    assert_eq!(layers(&hybrid()), [true, true, true, false]);
    let mut config = hybrid();
    config["full_attention_interval"] = json!(2);
    assert_eq!(layers(&config), [true, false, true, false]);
    config["layer_types"] = json!(["full_attention", "linear_attention", "linear_attention", "linear_attention"]);
    assert_eq!(layers(&config), [false, true, true, true]);
}

#[test]
fn a_quarter_of_a_head_is_turned_unless_the_file_says_otherwise() {
    assert_eq!(parse(&hybrid()).unwrap().rotary_dim, 8);
    let mut config = hybrid();
    config["partial_rotary_factor"] = json!(0.5);
    assert_eq!(parse(&config).unwrap().rotary_dim, 16);
    config["rope_parameters"] = json!({"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 1.0});
    let config = parse(&config).unwrap();
    assert_eq!((config.rotary_dim, config.rope.theta), (32, 1e6));
}

#[test]
fn the_text_part_of_a_multimodal_configuration_is_the_model() {
    assert_eq!(parse(&nested()).unwrap(), parse(&hybrid()).unwrap());
    let mut config = nested();
    config["text_config"]["tie_word_embeddings"] = json!(false);
    refused(&config, &["tie_word_embeddings", "text_config", "lm_head.weight"]);
    let mut config = nested();
    config["eos_token_id"] = json!(320);
    refused(&config, &["eos_token_id", "320"]);
    let mut config = nested();
    config["text_config"]["model_type"] = json!("qwen3_5_moe_text");
    refused(&config, &["qwen3_5_moe_text", "supported: llama, qwen2, qwen3, qwen3_5"]);
}

#[test]
fn qwen2_and_qwen3_are_told_apart() {
    let mut config = hybrid();
    for (kind, architecture) in [("qwen2", Architecture::Qwen2), ("qwen3", Architecture::Qwen3)] {
        config["model_type"] = json!(kind);
        let found = parse(&config).unwrap();
        assert_eq!((found.architecture, found.rotary_dim, found.delta_net.is_none()), (architecture, 32, true));
        let names: Vec<String> = found.tensor_shapes().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.iter().any(|name| name.ends_with("k_proj.bias")), kind == "qwen2");
        assert_eq!(names.iter().any(|name| name.ends_with("k_norm.weight")), kind == "qwen3");
    }
}

#[test]
fn what_would_be_computed_wrongly_is_refused() {
    let with = |kind: &str, key: &str, value: Value| {
        let mut config = hybrid();
        config["model_type"] = json!(kind);
        config[key] = value;
        config
    };
    let hybrid = |key, value| with("qwen3_5_text", key, value);
    refused(
        &hybrid("layer_types", json!(["linear_attention", "sliding_attention"])),
        &["layer_types", "sliding_attention"],
    );
    refused(&hybrid("layer_types", json!(["linear_attention"])), &["layer_types", "1 layers", "4"]);
    refused(&hybrid("linear_num_value_heads", json!(3)), &["linear_num_value_heads", "3 value heads", "2 key heads"]);
    refused(&hybrid("linear_conv_kernel_dim", json!(0)), &["linear_conv_kernel_dim", "0 is outside"]);
    refused(&hybrid("linear_key_head_dim", json!(null)), &["linear_key_head_dim", "missing"]);
    refused(&hybrid("rope_theta", json!(null)), &["rope_theta", "missing"]);
    refused(&hybrid("attention_bias", json!(true)), &["attention_bias", "qwen3_5"]);
    refused(&hybrid("partial_rotary_factor", json!(0.0)), &["partial_rotary_factor", "0"]);
    refused(&hybrid("partial_rotary_factor", json!(0.1)), &["rotary", "3 is odd"]);
    refused(
        &hybrid("rope_scaling", json!({"rope_type": "yarn"})),
        &["rope_scaling.rope_type", "yarn", "remove the scaling"],
    );
    refused(&with("qwen3", "use_sliding_window", json!(true)), &["use_sliding_window", "sliding_window"]);
    refused(&with("qwen2", "layer_types", json!(["sliding_attention"])), &["layer_types", "full_attention"]);
    refused(&with("qwen2", "partial_rotary_factor", json!(0.5)), &["partial_rotary_factor", "the whole head"]);
    refused(&with("qwen3_next", "hidden_size", json!(64)), &["qwen3_next", "supported"]);
    refused(&json!([1]), &["config.json", "fetch it again"]);
}
