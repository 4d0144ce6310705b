//! A two-layer Llama with random weights and a byte-level tokenizer, written as a Hugging Face folder.

use std::fs;
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

const HIDDEN: usize = 64;
const INTERMEDIATE: usize = 96;
const KV_WIDTH: usize = 32;
/// 256 bytes and the two tokens of the chat format.
const TOKENS: usize = 258;
/// A little larger than the tokenizer, as real embeddings are.
const VOCAB: usize = 272;

/// What a folder holds. Tests change single fields.
pub struct TinyModel {
    pub config: Value,
    pub tokenizer: Option<Value>,
    pub tensors: Vec<(String, Vec<usize>, Vec<f32>)>,
}

impl TinyModel {
    /// A sound model; its weights depend on `seed`.
    pub fn new(seed: u64) -> TinyModel {
        let mut random = Random(seed);
        let mut tensors = vec![matrix(&mut random, "model.embed_tokens", VOCAB, HIDDEN)];
        for layer in 0..2 {
            for (name, out, input) in [
                ("self_attn.q_proj", HIDDEN, HIDDEN),
                ("self_attn.k_proj", KV_WIDTH, HIDDEN),
                ("self_attn.v_proj", KV_WIDTH, HIDDEN),
                ("self_attn.o_proj", HIDDEN, HIDDEN),
                ("mlp.gate_proj", INTERMEDIATE, HIDDEN),
                ("mlp.up_proj", INTERMEDIATE, HIDDEN),
                ("mlp.down_proj", HIDDEN, INTERMEDIATE),
            ] {
                tensors.push(matrix(&mut random, &format!("model.layers.{layer}.{name}"), out, input));
            }
            for name in ["input_layernorm", "post_attention_layernorm"] {
                tensors.push((format!("model.layers.{layer}.{name}.weight"), vec![HIDDEN], vec![1.0; HIDDEN]));
            }
        }
        tensors.push(("model.norm.weight".to_owned(), vec![HIDDEN], vec![1.0; HIDDEN]));
        let config = json!({
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN,
            "intermediate_size": INTERMEDIATE, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads": 2, "head_dim": 16, "vocab_size": VOCAB, "rms_norm_eps": 1e-5,
            "rope_theta": 10000.0, "max_position_embeddings": 512, "tie_word_embeddings": true,
            "hidden_act": "silu", "attention_bias": false, "mlp_bias": false, "torch_dtype": "float32",
        });
        TinyModel { config, tokenizer: Some(byte_tokenizer()), tensors }
    }

    /// Writes the folder and gives its path.
    pub fn write(&self, folder: &Path) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("config.json"), self.config.to_string()).unwrap();
        if let Some(tokenizer) = &self.tokenizer {
            fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
            fs::write(folder.join("tokenizer_config.json"), tokenizer_config().to_string()).unwrap();
        }
        let views = self.tensors.iter().map(|(name, shape, values)| {
            let bytes = bytemuck::cast_slice(values);
            (name.as_str(), TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap())
        });
        fs::write(folder.join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();
        folder.to_owned()
    }
}

fn matrix(random: &mut Random, name: &str, out: usize, input: usize) -> (String, Vec<usize>, Vec<f32>) {
    let values = (0..out * input).map(|_| random.next() * 0.2).collect();
    (format!("{name}.weight"), vec![out, input], values)
}

/// Uniform numbers in −1..1 by a 64-bit linear congruence (constants of Knuth's MMIX).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}

/// Every byte is a token, ids by byte; then the two tokens of the chat format.
fn byte_tokenizer() -> Value {
    let mut vocabulary = serde_json::Map::new();
    let mut unprintable = 256;
    for byte in 0..256u32 {
        // The byte-level alphabet: printable bytes stand for themselves, the others for characters from 256 on.
        let printable = matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
        let code = if printable { byte } else { unprintable };
        unprintable += u32::from(!printable);
        vocabulary.insert(char::from_u32(code).unwrap().to_string(), json!(byte));
    }
    let special = |id: usize, content: &str| {
        json!({ "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": true })
    };
    let byte_level = json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true });
    json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [special(TOKENS - 2, "<|im_start|>"), special(TOKENS - 1, "<|im_end|>")],
        "normalizer": null, "pre_tokenizer": byte_level, "post_processor": null, "decoder": byte_level,
        "model": { "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                   "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
                   "vocab": vocabulary, "merges": [] },
    })
}

fn tokenizer_config() -> Value {
    json!({
        "eos_token": "<|im_end|>",
        "chat_template": "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n\
                          {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    })
}
