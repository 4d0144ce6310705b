//! `.safetensors` files, written as their values are made.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::tensors::{BLOCK, Tensor};

/// Headers end on multiples of this.
const ALIGNMENT: usize = 8;

/// Tensors in order, a new shard wherever the next one would take it past `limit` bytes.
pub(super) fn split(tensors: Vec<Tensor>, limit: u64) -> Vec<Vec<Tensor>> {
    let mut shards: Vec<Vec<Tensor>> = Vec::new();
    let mut filled = 0;
    for tensor in tensors {
        let bytes = tensor.bytes() as u64;
        match shards.last_mut() {
            Some(shard) if filled + bytes <= limit => shard.push(tensor),
            _ => {
                filled = 0;
                shards.push(vec![tensor]);
            }
        }
        filled += bytes;
    }
    shards
}

/// Name of shard `index` of `count`.
pub(super) fn file_name(index: usize, count: usize) -> String {
    match count {
        1 => "model.safetensors".to_owned(),
        _ => format!("model-{:05}-of-{count:05}.safetensors", index + 1),
    }
}

/// The index of several shards.
pub(super) fn index(shards: &[Vec<Tensor>]) -> Value {
    let (mut places, mut total) = (Map::new(), 0);
    for (number, shard) in shards.iter().enumerate() {
        for tensor in shard {
            places.insert(tensor.name.clone(), file_name(number, shards.len()).into());
            total += tensor.bytes();
        }
    }
    json!({ "metadata": { "total_size": total }, "weight_map": places })
}

/// Writes one file; `written` hears the bytes of every block.
pub(super) fn write(path: &Path, tensors: &[Tensor], written: &mut dyn FnMut(u64)) -> io::Result<()> {
    let mut file = BufWriter::new(File::create_new(path)?);
    let header = header(tensors);
    file.write_all(&(header.len() as u64).to_le_bytes())?;
    file.write_all(&header)?;
    let mut block = Vec::new();
    for tensor in tensors {
        let elements = tensor.elements();
        for first in (0..elements).step_by(BLOCK) {
            block.resize(BLOCK.min(elements - first) * tensor.float.bytes(), 0);
            tensor.fill(first, &mut block);
            file.write_all(&block)?;
            written(block.len() as u64);
        }
    }
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Name, type, shape and place of every tensor, as JSON padded with spaces.
fn header(tensors: &[Tensor]) -> Vec<u8> {
    let mut all = Map::new();
    all.insert("__metadata__".into(), json!({ "format": "pt" }));
    let mut start = 0;
    for tensor in tensors {
        let end = start + tensor.bytes();
        let entry = json!({ "dtype": tensor.float.name(), "shape": tensor.shape, "data_offsets": [start, end] });
        all.insert(tensor.name.clone(), entry);
        start = end;
    }
    let mut header = Value::Object(all).to_string().into_bytes();
    header.resize(header.len().next_multiple_of(ALIGNMENT), b' ');
    header
}
