//! A configuration as the `config.json` of a text-only checkpoint.

use serde_json::{Map, Value, json};

use super::tensors::FloatType;
use crate::registry::{Architecture, ModelConfig, Rope};

/// The file's content; reading it gives `config` again.
pub(super) fn config_json(config: &ModelConfig, float: FloatType, eos: Option<u32>) -> Value {
    let (class, model_type) = match config.architecture {
        Architecture::Llama => ("LlamaForCausalLM", "llama"),
        Architecture::Qwen2 => ("Qwen2ForCausalLM", "qwen2"),
        Architecture::Qwen3 => ("Qwen3ForCausalLM", "qwen3"),
        Architecture::Qwen3_5 => ("Qwen3_5ForCausalLM", "qwen3_5_text"),
    };
    let mut all = json!({
        "architectures": [class], "model_type": model_type, "dtype": float.torch_name(),
        "torch_dtype": float.torch_name(), "hidden_size": config.hidden, "num_hidden_layers": config.layers,
        "intermediate_size": config.intermediate, "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads, "head_dim": config.head_dim, "vocab_size": config.vocab,
        "max_position_embeddings": config.max_positions, "rms_norm_eps": decimal(config.norm_eps),
        "tie_word_embeddings": config.tied_head, "hidden_act": "silu", "attention_bias": false, "mlp_bias": false,
        "use_sliding_window": false, "eos_token_id": eos, "bos_token_id": null,
    });
    let partial = (config.rotary_dim != config.head_dim).then(|| config.rotary_dim as f64 / config.head_dim as f64);
    all["rope_parameters"] = rope(&config.rope, partial);
    if let Some(delta) = &config.delta_net {
        let kind = |recurrent: &bool| if *recurrent { "linear_attention" } else { "full_attention" };
        all["layer_types"] = delta.recurrent.iter().map(kind).collect();
        for (key, value) in [
            ("linear_num_key_heads", delta.key_heads),
            ("linear_num_value_heads", delta.value_heads),
            ("linear_key_head_dim", delta.key_dim),
            ("linear_value_head_dim", delta.value_dim),
            ("linear_conv_kernel_dim", delta.conv_kernel),
        ] {
            all[key] = value.into();
        }
    }
    all
}

/// The shortest decimal that reads as this f32, as f64: 1e-6 stays 1e-6.
fn decimal(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

fn rope(rope: &Rope, partial: Option<f64>) -> Value {
    let mut all = Map::new();
    all.insert("rope_theta".into(), rope.theta.into());
    all.extend(partial.map(|share| ("partial_rotary_factor".to_owned(), share.into())));
    let kind = match &rope.scaling {
        None => "default",
        Some(scaling) => {
            for (key, value) in [
                ("factor", scaling.factor),
                ("low_freq_factor", scaling.low_freq),
                ("high_freq_factor", scaling.high_freq),
                ("original_max_position_embeddings", scaling.original_positions),
            ] {
                all.insert(key.into(), value.into());
            }
            "llama3"
        }
    };
    all.insert("rope_type".into(), kind.into());
    Value::Object(all)
}
