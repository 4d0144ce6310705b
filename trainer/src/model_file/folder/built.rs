//! Hugging Face folders made for tests: a small sound model, and ways to spoil it.

use crate::model_file::{ModelError, ModelFile};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// A folder in parts.
pub(super) struct Built {
    pub(super) config: Value,
    /// Tensors of the one weight file: name, type, shape, bytes.
    pub(super) tensors: Vec<(String, &'static str, Vec<usize>, Vec<u8>)>,
    /// Further files by name.
    pub(super) files: Vec<(String, Vec<u8>)>,
}

pub(super) fn f32_bytes(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// A weight file from a header and data.
pub(super) fn weight_file(header: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    bytes.extend(data);
    bytes
}

/// A sound weight file of these tensors.
pub(super) fn weights(tensors: &[(String, &'static str, Vec<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut header = Map::new();
    let mut data = Vec::new();
    for (name, kind, shape, bytes) in tensors {
        let start = data.len();
        data.extend(bytes);
        let info = json!({"dtype": kind, "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(name.clone(), info);
    }
    weight_file(Value::Object(header).to_string().as_bytes(), &data)
}

impl Built {
    /// A sound llama of one layer: hidden 32, 2 query heads of 16, 1 key head, MLP 64, vocabulary
    /// 128, tied; value `i` of every tensor is `i`.
    pub(super) fn sound() -> Built {
        let config = json!({
            "model_type": "llama", "hidden_size": 32, "num_hidden_layers": 1,
            "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 64,
            "vocab_size": 128, "max_position_embeddings": 256, "rms_norm_eps": 1e-5,
            "tie_word_embeddings": true, "hidden_act": "silu", "attention_bias": false,
            "rope_theta": 500000.0, "rope_scaling": null, "eos_token_id": [2, 0], "bos_token_id": 1,
        });
        let tensors = [
            ("model.embed_tokens.weight", vec![128, 32]),
            ("model.norm.weight", vec![32]),
            ("model.layers.0.input_layernorm.weight", vec![32]),
            ("model.layers.0.self_attn.q_proj.weight", vec![32, 32]),
            ("model.layers.0.self_attn.k_proj.weight", vec![16, 32]),
            ("model.layers.0.self_attn.v_proj.weight", vec![16, 32]),
            ("model.layers.0.self_attn.o_proj.weight", vec![32, 32]),
            ("model.layers.0.post_attention_layernorm.weight", vec![32]),
            ("model.layers.0.mlp.gate_proj.weight", vec![64, 32]),
            ("model.layers.0.mlp.up_proj.weight", vec![64, 32]),
            ("model.layers.0.mlp.down_proj.weight", vec![32, 64]),
        ];
        let tensors = tensors.into_iter().map(|(name, shape)| {
            let count: usize = shape.iter().product();
            let data = f32_bytes((0..count).map(|index| index as f32));
            (name.to_string(), "F32", shape, data)
        });
        Built { config, tensors: tensors.collect(), files: Vec::new() }
    }

    pub(super) fn file(&mut self, name: &str, bytes: impl Into<Vec<u8>>) -> &mut Built {
        self.files.push((name.into(), bytes.into()));
        self
    }

    /// Writes the folder and opens it; further files win over the parts.
    pub(super) fn open(&self) -> (OnDisk, Result<ModelFile, ModelError>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).expect("a written file");
        };
        write("config.json", self.config.to_string().as_bytes());
        if !self.tensors.is_empty() {
            write("model.safetensors", &weights(&self.tensors));
        }
        for (name, bytes) in &self.files {
            write(name, bytes);
        }
        let opened = ModelFile::open(folder.path());
        let on_disk = OnDisk { path: folder.path().into(), _folder: folder };
        (on_disk, opened)
    }
}

/// A folder that is removed when dropped.
pub(super) struct OnDisk {
    pub(super) path: PathBuf,
    _folder: tempfile::TempDir,
}
