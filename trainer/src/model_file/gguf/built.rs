//! GGUF files made in memory for tests: a small sound model, and ways to spoil it.

use crate::model_file::{ModelError, ModelFile};
use std::path::PathBuf;

pub(super) const U8: u32 = 0;
pub(super) const U32: u32 = 4;
pub(super) const I32: u32 = 5;
pub(super) const F32: u32 = 6;
pub(super) const STRING: u32 = 8;
pub(super) const ARRAY: u32 = 9;
pub(super) const U64: u32 = 10;

/// A metadata entry, value already as bytes.
pub(super) struct Key {
    pub(super) name: String,
    pub(super) kind: u32,
    pub(super) value: Vec<u8>,
}

/// A tensor as the directory claims it, and its data.
#[derive(Clone)]
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) extents: Vec<u64>,
    pub(super) element: u32,
    /// Placed after the tensor before it when `None`.
    pub(super) offset: Option<u64>,
    pub(super) data: Vec<u8>,
}

/// A file in parts.
pub(super) struct Built {
    pub(super) version: u32,
    pub(super) tensor_count: Option<u64>,
    pub(super) key_count: Option<u64>,
    pub(super) keys: Vec<Key>,
    pub(super) tensors: Vec<Tensor>,
}

pub(super) fn text(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes
}

pub(super) fn array(kind: u32, len: u64, items: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(len.to_le_bytes());
    bytes.extend(items);
    bytes
}

pub(super) fn texts<'a>(items: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let items: Vec<Vec<u8>> = items.into_iter().map(text).collect();
    array(STRING, items.len() as u64, &items.concat())
}

pub(super) fn f32_bytes(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

pub(super) const HIDDEN: u64 = 32;
pub(super) const CONTROL: [&str; 3] = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];

/// Printable ASCII, the byte-level spellings of space and line feed, two merges, three controls.
pub(super) fn tokens() -> Vec<String> {
    let mut tokens: Vec<String> = CONTROL.iter().map(|token| token.to_string()).collect();
    tokens.extend(('!'..='~').map(String::from));
    tokens.extend(["Ġ", "Ċ", "he", "Ġhe"].map(String::from));
    tokens
}

impl Built {
    /// A sound llama of one layer: hidden 32, 2 query heads of 16, 1 key head, MLP 64.
    pub(super) fn sound() -> Built {
        let vocab = tokens();
        let types = vocab.iter().map(|token| match CONTROL.contains(&token.as_str()) {
            true => 3i32,
            false => 1,
        });
        let types: Vec<u8> = types.flat_map(i32::to_le_bytes).collect();
        let mut built =
            Built { version: 3, tensor_count: None, key_count: None, keys: Vec::new(), tensors: Vec::new() };
        let number = |value: u32| value.to_le_bytes().to_vec();
        for (name, kind, value) in [
            ("general.architecture", STRING, text("llama")),
            ("llama.block_count", U32, number(1)),
            ("llama.context_length", U32, number(128)),
            ("llama.embedding_length", U32, number(HIDDEN as u32)),
            ("llama.feed_forward_length", U32, number(64)),
            ("llama.attention.head_count", U32, number(2)),
            ("llama.attention.head_count_kv", U32, number(1)),
            ("llama.rope.freq_base", F32, f32_bytes([1e5])),
            ("llama.attention.layer_norm_rms_epsilon", F32, f32_bytes([1e-5])),
            ("tokenizer.ggml.model", STRING, text("gpt2")),
            ("tokenizer.ggml.pre", STRING, text("smollm")),
            ("tokenizer.ggml.tokens", ARRAY, texts(vocab.iter().map(String::as_str))),
            ("tokenizer.ggml.token_type", ARRAY, array(I32, vocab.len() as u64, &types)),
            ("tokenizer.ggml.merges", ARRAY, texts(["h e", "Ġ he"])),
            ("tokenizer.ggml.eos_token_id", U32, number(2)),
            ("tokenizer.ggml.bos_token_id", U32, number(1)),
        ] {
            built.set(name, kind, value);
        }
        let rows = vocab.len() as u64;
        for (name, extents) in [
            ("token_embd.weight", vec![HIDDEN, rows]),
            ("output_norm.weight", vec![HIDDEN]),
            ("blk.0.attn_norm.weight", vec![HIDDEN]),
            ("blk.0.attn_q.weight", vec![HIDDEN, 32]),
            ("blk.0.attn_k.weight", vec![HIDDEN, 16]),
            ("blk.0.attn_v.weight", vec![HIDDEN, 16]),
            ("blk.0.attn_output.weight", vec![32, HIDDEN]),
            ("blk.0.ffn_norm.weight", vec![HIDDEN]),
            ("blk.0.ffn_gate.weight", vec![HIDDEN, 64]),
            ("blk.0.ffn_up.weight", vec![HIDDEN, 64]),
            ("blk.0.ffn_down.weight", vec![64, HIDDEN]),
        ] {
            built.add_f32(name, &extents);
        }
        built
    }

    /// The sound llama under the keys of another architecture.
    pub(super) fn renamed(architecture: &str) -> Built {
        let mut built = Built::sound();
        for key in &mut built.keys {
            if let Some(part) = key.name.strip_prefix("llama.") {
                key.name = format!("{architecture}.{part}");
            }
        }
        built.set("general.architecture", STRING, text(architecture));
        built
    }

    /// Sets or replaces a key.
    pub(super) fn set(&mut self, name: &str, kind: u32, value: Vec<u8>) -> &mut Built {
        self.keys.retain(|key| key.name != name);
        self.keys.push(Key { name: name.into(), kind, value });
        self
    }

    pub(super) fn remove(&mut self, name: &str) -> &mut Built {
        self.keys.retain(|key| key.name != name);
        self
    }

    /// Adds an F32 tensor whose value at flat index `i` is `i`.
    pub(super) fn add_f32(&mut self, name: &str, extents: &[u64]) -> &mut Built {
        let values = extents.iter().product::<u64>();
        self.tensors.push(Tensor {
            name: name.into(),
            extents: extents.into(),
            element: 0,
            offset: None,
            data: f32_bytes((0..values).map(|index| index as f32)),
        });
        self
    }

    pub(super) fn tensor(&mut self, name: &str) -> &mut Tensor {
        let found = self.tensors.iter_mut().find(|tensor| tensor.name == name);
        found.expect("a tensor of the sound model")
    }

    /// The bytes of the file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        let tensors = self.tensor_count.unwrap_or(self.tensors.len() as u64);
        out.extend(tensors.to_le_bytes());
        let keys = self.key_count.unwrap_or(self.keys.len() as u64);
        out.extend(keys.to_le_bytes());
        for key in &self.keys {
            out.extend(text(&key.name));
            out.extend(key.kind.to_le_bytes());
            out.extend(&key.value);
        }
        let mut data = Vec::new();
        for tensor in &self.tensors {
            out.extend(text(&tensor.name));
            out.extend((tensor.extents.len() as u32).to_le_bytes());
            for extent in &tensor.extents {
                out.extend(extent.to_le_bytes());
            }
            out.extend(tensor.element.to_le_bytes());
            out.extend(tensor.offset.unwrap_or(data.len() as u64).to_le_bytes());
            data.extend(&tensor.data);
            data.resize(data.len().next_multiple_of(32), 0);
        }
        out.resize(out.len().next_multiple_of(32), 0);
        out.extend(data);
        out
    }

    /// Writes the file and opens it.
    pub(super) fn open(&self) -> Result<ModelFile, ModelError> {
        open_bytes(&self.bytes()).1
    }
}

/// Writes bytes to a file that lives as long as the first result, and opens it.
pub(super) fn open_bytes(bytes: &[u8]) -> (OnDisk, Result<ModelFile, ModelError>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("model.gguf");
    std::fs::write(&path, bytes).expect("a written file");
    let opened = ModelFile::open(&path);
    let on_disk = OnDisk { path, _folder: folder };
    (on_disk, opened)
}

/// A file that is removed when dropped.
pub(super) struct OnDisk {
    pub(super) path: PathBuf,
    _folder: tempfile::TempDir,
}
