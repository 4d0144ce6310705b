//! Which values a tensor gets, and as what it is stored.

use half::{bf16, f16};
use rayon::prelude::*;

use super::random::Source;
use crate::registry::{ModelConfig, NormWeight};

/// Deviation of matrices, convolutions and biases.
const DEVIATION: f32 = 0.02;
/// Range of e^A_log: decay rates of the delta rule.
const DECAY: (f32, f32) = (0.01, 16.0);
/// Values one task makes; even, for pairs of normal values.
const TASK: usize = 1 << 16;

/// A type for stored weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatType {
    /// 32 bits.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of an f32.
    Bf16,
}

impl FloatType {
    /// Bytes of a value.
    pub fn bytes(self) -> usize {
        match self {
            FloatType::F32 => 4,
            FloatType::F16 | FloatType::Bf16 => 2,
        }
    }

    /// Its name in a safetensors header.
    pub(super) fn name(self) -> &'static str {
        match self {
            FloatType::F32 => "F32",
            FloatType::F16 => "F16",
            FloatType::Bf16 => "BF16",
        }
    }

    /// Its name in `config.json`.
    pub(super) fn torch_name(self) -> &'static str {
        match self {
            FloatType::F32 => "float32",
            FloatType::F16 => "float16",
            FloatType::Bf16 => "bfloat16",
        }
    }

    fn store(self, values: &[f32], bytes: &mut [u8]) {
        for (value, bytes) in values.iter().zip(bytes.chunks_exact_mut(self.bytes())) {
            match self {
                FloatType::F32 => bytes.copy_from_slice(&value.to_le_bytes()),
                FloatType::F16 => bytes.copy_from_slice(&f16::from_f32(*value).to_le_bytes()),
                FloatType::Bf16 => bytes.copy_from_slice(&bf16::from_f32(*value).to_le_bytes()),
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Values {
    Normal,
    Constant(f32),
    LogDecay,
}

/// A tensor to write.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub name: String,
    pub shape: Vec<usize>,
    pub float: FloatType,
    values: Values,
    source: Source,
}

impl Tensor {
    /// Every tensor of a model, in model order.
    pub fn all(config: &ModelConfig, float: FloatType, seed: u64) -> Vec<Tensor> {
        let tensor = |(name, shape): (String, Vec<usize>)| Tensor {
            float: if kept_f32(&name) { FloatType::F32 } else { float },
            values: values(config, &name),
            source: Source::new(seed, &name),
            name,
            shape,
        };
        config.tensor_shapes().into_iter().map(tensor).collect()
    }

    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn bytes(&self) -> usize {
        self.elements() * self.float.bytes()
    }

    /// Bytes of elements `first..first + bytes.len() / width`; `first` is a multiple of [`BLOCK`].
    pub fn fill(&self, first: usize, bytes: &mut [u8]) {
        let width = self.float.bytes();
        bytes.par_chunks_mut(TASK * width).enumerate().for_each(|(task, bytes)| {
            let first = (first + task * TASK) as u64;
            let mut values = vec![0.0; bytes.len() / width];
            match self.values {
                Values::Normal => self.source.normal(first, DEVIATION, &mut values),
                Values::Constant(value) => values.fill(value),
                Values::LogDecay => self.source.log_uniform(first, DECAY, &mut values),
            }
            self.float.store(&values, bytes);
        });
    }
}

/// Elements made at a time.
pub(super) const BLOCK: usize = 32 * TASK;

/// What published checkpoints keep in F32 whatever the rest is in.
fn kept_f32(name: &str) -> bool {
    name.ends_with("linear_attn.A_log") || name.ends_with("linear_attn.norm.weight")
}

fn values(config: &ModelConfig, name: &str) -> Values {
    if name.ends_with(".A_log") {
        return Values::LogDecay;
    }
    if name.ends_with(".dt_bias") || name.ends_with("linear_attn.norm.weight") {
        return Values::Constant(1.0);
    }
    if name.ends_with("norm.weight") {
        return Values::Constant(match config.architecture.description().norm {
            NormWeight::Plain => 1.0,
            NormWeight::OnePlus => 0.0,
        });
    }
    Values::Normal
}
