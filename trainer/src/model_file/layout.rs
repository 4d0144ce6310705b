//! Which tensors a model has, by its configuration.

use super::{Architecture, ModelConfig, ModelError, TensorSource};
use std::collections::HashSet;

impl ModelConfig {
    /// Canonical name and shape of every tensor of the model.
    pub fn tensor_shapes(&self) -> Vec<(String, Vec<usize>)> {
        let ModelConfig { hidden, intermediate, vocab, .. } = *self;
        let queries = self.heads * self.head_dim;
        let keys = self.kv_heads * self.head_dim;
        let mut shapes = vec![("model.embed_tokens.weight".to_string(), vec![vocab, hidden])];
        for layer in 0..self.layers {
            for (name, shape) in [
                ("input_layernorm", vec![hidden]),
                ("self_attn.q_proj", vec![queries, hidden]),
                ("self_attn.k_proj", vec![keys, hidden]),
                ("self_attn.v_proj", vec![keys, hidden]),
                ("self_attn.o_proj", vec![hidden, queries]),
                ("post_attention_layernorm", vec![hidden]),
                ("mlp.gate_proj", vec![intermediate, hidden]),
                ("mlp.up_proj", vec![intermediate, hidden]),
                ("mlp.down_proj", vec![hidden, intermediate]),
            ] {
                shapes.push((format!("model.layers.{layer}.{name}.weight"), shape));
            }
        }
        shapes.push(("model.norm.weight".to_string(), vec![hidden]));
        if !self.tied_head {
            shapes.push(("lm_head.weight".to_string(), vec![vocab, hidden]));
        }
        shapes
    }

    /// Holds the tensors of a file against the configuration: each there, each of its shape, and
    /// none that the network has no place for.
    pub(crate) fn check_tensors(&self, tensors: &dyn TensorSource) -> Result<(), ModelError> {
        let mut placed = HashSet::new();
        for (name, expected) in self.tensor_shapes() {
            match tensors.shape(&name) {
                None => return Err(ModelError::TensorMissing { name }),
                Some(found) if found != expected => {
                    return Err(ModelError::TensorShape { name, expected, found });
                }
                Some(_) => placed.insert(name),
            };
        }
        match tensors.names().into_iter().find(|name| !placed.contains(name)) {
            Some(name) => Err(ModelError::TensorUnexpected {
                name,
                architecture: match self.architecture {
                    Architecture::Llama => "llama",
                },
            }),
            None => Ok(()),
        }
    }
}
