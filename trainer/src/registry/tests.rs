//! The registry against the published sizes of real models.

use super::{Operator, PrecisionChoice, PrecisionPolicy, ProjectionKind};
use crate::model_file::parse_config;
use crate::registry::ModelConfig;
use hexagon_runtime::Precision;
use serde_json::{Value, json};
use std::path::Path;

fn config(json: &Value) -> ModelConfig {
    parse_config(Path::new("config.json"), json.to_string().as_bytes()).unwrap()
}

/// Hidden, layers, intermediate, query heads, value heads of the recurrence, tied.
fn qwen3_5(sizes: [usize; 5], tied: bool) -> ModelConfig {
    let [hidden, layers, intermediate, heads, value_heads] = sizes;
    config(&json!({
        "model_type": "qwen3_5_text", "hidden_size": hidden, "num_hidden_layers": layers,
        "intermediate_size": intermediate, "num_attention_heads": heads, "num_key_value_heads": heads / 4,
        "head_dim": 256, "vocab_size": 248320, "max_position_embeddings": 262144, "rms_norm_eps": 1e-6,
        "linear_num_key_heads": 16, "linear_num_value_heads": value_heads, "linear_key_head_dim": 128,
        "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "full_attention_interval": 4,
        "tie_word_embeddings": tied, "hidden_act": "silu", "attention_bias": false,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25},
    }))
}

/// Model type, then hidden, layers, intermediate, query heads, key heads, head width, vocabulary.
fn attention_only(kind: &str, sizes: [usize; 7]) -> ModelConfig {
    let [hidden, layers, intermediate, heads, kv_heads, head_dim, vocab] = sizes;
    config(&json!({
        "model_type": kind, "hidden_size": hidden, "num_hidden_layers": layers, "intermediate_size": intermediate,
        "num_attention_heads": heads, "num_key_value_heads": kv_heads, "head_dim": head_dim, "vocab_size": vocab,
        "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "tie_word_embeddings": true, "rope_theta": 1e6,
    }))
}

/// Projections, FP16 bytes, Q8 bytes, all in FP16, parameters of the text model.
fn figures(config: &ModelConfig) -> [u64; 5] {
    let policy = PrecisionPolicy::NPU;
    let everything: u64 = config.projections().iter().map(|p| p.bytes(Precision::F16)).sum();
    let [f16, q8] = [Precision::F16, Precision::Q8].map(|precision| policy.resident_bytes(config, precision));
    [config.projections().len() as u64, f16, q8, everything, config.parameters()]
}

#[test]
fn qwen3_5_has_the_published_sizes() {
    let cases = [
        ([1024, 24, 3584, 8, 16], true, [186, 378_667_008, 327_548_928, 995_229_696, 752_393_024]),
        ([2048, 24, 6144, 8, 16], true, [186, 757_334_016, 1_056_178_176, 2_745_434_112, 1_881_825_088]),
        ([2560, 32, 9216, 16, 32], true, [248, 2_021_130_240, 2_718_433_280, 7_138_181_120, 4_205_751_296]),
        ([4096, 32, 12288, 16, 32], false, [248, 3_233_808_384, 5_632_950_272, 13_837_008_896, 8_953_803_264]),
    ];
    for (sizes, tied, expected) in cases {
        assert_eq!(figures(&qwen3_5(sizes, tied)), expected, "{sizes:?}");
    }
}

#[test]
fn attention_only_models_have_the_published_sizes() {
    let cases = [
        ("qwen3", [2560, 36, 9728, 32, 8, 128, 151936], [252, 0, 3_860_398_080, 7_266_631_680, 4_022_468_096]),
        ("llama", [3072, 28, 8192, 24, 8, 128, 128256], [196, 0, 2_994_733_056, 5_637_144_576, 3_212_749_824]),
        ("llama", [2048, 16, 8192, 32, 8, 64, 128256], [112, 0, 1_033_895_936, 1_946_157_056, 1_235_814_400]),
    ];
    for (kind, sizes, expected) in cases {
        assert_eq!(figures(&attention_only(kind, sizes)), expected, "{kind} {sizes:?}");
    }
}

#[test]
fn layers_alternate_and_name_their_projections() {
    let config = qwen3_5([2560, 32, 9216, 16, 32], true);
    let attending: Vec<usize> = (0..32).filter(|&layer| config.recurrent(layer).is_none()).collect();
    assert_eq!(attending, [3, 7, 11, 15, 19, 23, 27, 31]);
    assert_eq!(config.rotary_dim, 64);
    let described = |layer| -> Vec<(String, usize, usize, ProjectionKind)> {
        config.layer_projections(layer).into_iter().map(|p| (p.name, p.rows, p.cols, p.kind)).collect()
    };
    let first = described(0);
    assert_eq!(first[0], ("model.layers.0.linear_attn.in_proj_qkv".into(), 8192, 2560, ProjectionKind::Recurrent));
    assert_eq!(first[3], ("model.layers.0.linear_attn.in_proj_a".into(), 32, 2560, ProjectionKind::Recurrent));
    assert_eq!(first[7], ("model.layers.0.mlp.down_proj".into(), 2560, 9216, ProjectionKind::Mlp));
    assert_eq!(described(3)[0], ("model.layers.3.self_attn.q_proj".into(), 8192, 2560, ProjectionKind::Attention));
    let head = config.head_projection();
    assert_eq!((head.name.as_str(), head.rows, head.kind), ("model.embed_tokens", 248_320, ProjectionKind::Head));
}

#[test]
fn operators_follow_the_layer() {
    use Operator::*;
    let hybrid = qwen3_5([1024, 24, 3584, 8, 16], true);
    assert_eq!(hybrid.layer_operators(0), [Norm, DeltaNet, Norm, SwiGlu]);
    assert_eq!(hybrid.layer_operators(3), [Norm, HeadNorm, Rope, Attention, OutputGate, Norm, SwiGlu]);
    let llama = attention_only("llama", [2048, 1, 8192, 32, 8, 64, 128256]);
    assert_eq!(llama.operators(), [Embedding, Norm, Rope, Attention, Norm, SwiGlu, Norm, Head]);
}

#[test]
fn a_policy_prints_what_differs() {
    assert_eq!(PrecisionPolicy::NPU.to_string(), "f16 recurrent, q8 attention, q8 mlp");
    assert_eq!(PrecisionPolicy::uniform(Precision::Q8).to_string(), "q8");
}

#[test]
fn a_choice_is_read_by_kind_or_as_one_word() {
    let choice = |text: &str| text.parse::<PrecisionChoice>().unwrap().over(PrecisionPolicy::NPU);
    assert_eq!(choice("q8"), PrecisionPolicy::uniform(Precision::Q8));
    assert_eq!(choice("auto"), PrecisionPolicy::NPU);
    let mixed = PrecisionPolicy { mlp: Precision::F16, ..PrecisionPolicy::NPU };
    assert_eq!(choice("mlp=f16"), mixed);
    assert_eq!(choice("recurrent=f16, attention=q8,mlp=f16"), mixed);
    let exact = PrecisionPolicy::uniform(Precision::F32);
    let one = "recurrent=q8".parse::<PrecisionChoice>().unwrap().over(exact);
    assert_eq!(one, PrecisionPolicy { recurrent: Precision::Q8, ..exact });
    for wrong in ["q4", "mlp", "mlp=q4", "head=q8", "mlp=f16,", "mlp=f16,mlp=q8", "auto,mlp=q8"] {
        let error = wrong.parse::<PrecisionChoice>().unwrap_err().to_string();
        assert!(error.contains("recurrent=f16"), "{error}");
    }
}

#[test]
fn fewer_layers_keep_the_pattern() {
    let config = ModelConfig::preset("qwen3.5-4b").unwrap().1.first_layers(6);
    let recurrent: Vec<bool> = (0..6).map(|layer| config.recurrent(layer).is_some()).collect();
    assert_eq!((config.layers, recurrent), (6, vec![true, true, true, false, true, true]));
    assert_eq!(config.delta_net.as_ref().map(|delta| delta.recurrent.len()), Some(6));
    assert_eq!(config.clone().first_layers(99), config);
}
