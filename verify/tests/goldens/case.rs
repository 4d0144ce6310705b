//! One golden case: its batch without padding, and what PyTorch gave for it.

use super::folder::json;
use super::tensors::{self, Tensors};
use serde_json::Value;
use std::path::Path;
use trainer::architecture::Sequence;

pub struct Case {
    pub name: String,
    /// The name without the folder.
    pub label: String,
    pub info: Value,
    pub batch: Vec<Sequence>,
    /// Place of every packed token among the padded ones.
    places: Vec<usize>,
    f32: Tensors,
    f64: Tensors,
}

/// All cases of a folder.
pub fn all(folder: &Path) -> Vec<Case> {
    let golden = json(&folder.join("golden.json"));
    let cases = golden["cases"].as_object().unwrap();
    assert!(!cases.is_empty());
    cases.iter().map(|(name, info)| Case::read(folder, name, info)).collect()
}

impl Case {
    fn read(folder: &Path, name: &str, info: &Value) -> Case {
        let f32 = tensors::read(&folder.join(format!("{name}.safetensors")));
        let wide = folder.join(format!("{name}_f64.safetensors"));
        let f64 = if wide.is_file() { tensors::read(&wide) } else { Tensors::new() };
        let (ids, mask, labels) = (&f32["input_ids"], &f32["attention_mask"], &f32["labels"]);
        let width = ids.shape[1];
        let (mut batch, mut places) = (Vec::new(), Vec::new());
        for row in 0..ids.shape[0] {
            let real: Vec<usize> = (row * width..(row + 1) * width).filter(|at| mask.values[*at] != 0.0).collect();
            // Padding moves positions in PyTorch's reference, whichever side it is on.
            let position = real[0] - row * width;
            let of = |values: &[f64]| -> Vec<i64> { real.iter().map(|at| values[*at] as i64).collect() };
            batch.push(Sequence {
                ids: of(&ids.values).into_iter().map(|id| id as u32).collect(),
                labels: of(&labels.values).into_iter().map(|label| label as i32).collect(),
                position,
            });
            places.extend(real);
        }
        Case {
            name: format!("{} {name}", folder.display()),
            label: name.to_owned(),
            info: info.clone(),
            batch,
            places,
            f32,
            f64,
        }
    }

    pub fn is_cotangent(&self) -> bool {
        self.info["kind"] == "cotangent"
    }

    /// A `[B, T, width]` reference at the real tokens only, in f64 if it was computed so.
    pub fn packed(&self, name: &str) -> Vec<f64> {
        let tensor = self.f64.get(name).unwrap_or_else(|| &self.f32[name]);
        let width = tensor.shape[2];
        self.places.iter().flat_map(|place| &tensor.values[place * width..][..width]).copied().collect()
    }

    /// Reference gradients in order of their PEFT names, if they were saved.
    pub fn grads(&self) -> Vec<(String, &[f64])> {
        let mut found = Vec::new();
        for (name, tensor) in &self.f32 {
            if let Some(parameter) = name.strip_prefix("grad.") {
                let tensor = self.f64.get(name).unwrap_or(tensor);
                found.push((parameter.to_owned(), tensor.values.as_slice()));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }
}
