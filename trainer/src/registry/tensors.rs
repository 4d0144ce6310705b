//! Which tensors a model has, by its configuration.

use super::config::ModelConfig;
use super::qwen3_5;

impl ModelConfig {
    /// Canonical name and shape of every tensor of the model.
    pub fn tensor_shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (vocab, hidden) = (self.vocab, self.hidden);
        let mut shapes = vec![("model.embed_tokens.weight".to_string(), vec![vocab, hidden])];
        for layer in 0..self.layers {
            let projections = self.layer_projections(layer).into_iter();
            shapes.extend(projections.map(|p| (format!("{}.weight", p.name), vec![p.rows, p.cols])));
            let small = self.small_tensors(layer).into_iter();
            shapes.extend(small.map(|(name, shape)| (format!("model.layers.{layer}.{name}"), shape)));
        }
        shapes.push(("model.norm.weight".to_string(), vec![hidden]));
        if !self.tied_head {
            shapes.push(("lm_head.weight".to_string(), vec![vocab, hidden]));
        }
        shapes
    }

    /// Norms, biases, convolution and gates of a layer, which stay on the CPU: name below the layer, and shape.
    fn small_tensors(&self, layer: usize) -> Vec<(&'static str, Vec<usize>)> {
        let description = self.architecture.description();
        let mut small =
            vec![("input_layernorm.weight", vec![self.hidden]), ("post_attention_layernorm.weight", vec![self.hidden])];
        if let Some(delta) = self.recurrent(layer) {
            small.extend(qwen3_5::tensors(delta));
            return small;
        }
        if description.head_norm {
            small
                .extend(["self_attn.q_norm.weight", "self_attn.k_norm.weight"].map(|name| (name, vec![self.head_dim])));
        }
        if description.qkv_bias {
            let keys = self.kv_heads * self.head_dim;
            small.push(("self_attn.q_proj.bias", vec![self.query_rows()]));
            small.extend(["self_attn.k_proj.bias", "self_attn.v_proj.bias"].map(|name| (name, vec![keys])));
        }
        small
    }

    /// Parameters of the text model, the embedding counted once if the head is tied.
    pub fn parameters(&self) -> u64 {
        self.tensor_shapes().iter().map(|(_, shape)| shape.iter().map(|&n| n as u64).product::<u64>()).sum()
    }
}
