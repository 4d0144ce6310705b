//! Reads a safetensors file of reference values.

use safetensors::{Dtype, SafeTensors};
use std::collections::HashMap;
use std::path::Path;

/// A tensor of numbers, whatever its type in the file.
pub struct Tensor {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

pub type Tensors = HashMap<String, Tensor>;

pub fn read(path: &Path) -> Tensors {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let file = SafeTensors::deserialize(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let tensor = |(name, view): (String, safetensors::tensor::TensorView<'_>)| {
        let data = view.data();
        let values = match view.dtype() {
            Dtype::F32 => data.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect(),
            Dtype::F64 => data.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
            Dtype::I64 => data.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b) as f64).collect(),
            other => panic!("{}: {name} is {other:?}", path.display()),
        };
        (name, Tensor { shape: view.shape().to_vec(), values })
    };
    file.tensors().into_iter().map(tensor).collect()
}

/// Largest |a − b| over the largest |b|, the latter at least `floor`.
pub fn deviation(a: impl IntoIterator<Item = f64>, b: &[f64], floor: f64) -> f64 {
    let largest = b.iter().fold(floor, |m, v| m.max(v.abs()));
    let mut difference = 0.0f64;
    let mut count = 0;
    for (a, b) in a.into_iter().zip(b) {
        assert!(a.is_finite(), "a value is {a}");
        difference = difference.max((a - b).abs());
        count += 1;
    }
    assert_eq!(count, b.len());
    if difference == 0.0 { 0.0 } else { difference / largest }
}
