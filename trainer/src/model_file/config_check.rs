//! Refuses numbers no model has, before anything is sized by them.

use super::ModelError;
use crate::registry::{DeltaNet, Llama3Scaling, ModelConfig, Rope};
use std::path::Path;

const WIDEST: usize = 1 << 20;
const MOST_HEADS: usize = 1 << 14;

impl ModelConfig {
    /// Checks sizes and constants. `path` is the file they came from; keys are named as in this struct.
    pub(crate) fn check(&self, path: &Path) -> Result<(), ModelError> {
        within(
            path,
            &[
                ("hidden", self.hidden, WIDEST),
                ("layers", self.layers, 4096),
                ("heads", self.heads, MOST_HEADS),
                ("kv_heads", self.kv_heads, MOST_HEADS),
                ("head_dim", self.head_dim, 1 << 14),
                ("intermediate", self.intermediate, WIDEST),
                ("vocab", self.vocab, 1 << 24),
                ("max_positions", self.max_positions, 1 << 30),
            ],
        )?;
        if !self.heads.is_multiple_of(self.kv_heads) {
            let problem = format!("{} query heads cannot share {} key/value heads evenly", self.heads, self.kv_heads);
            return Err(ModelError::config(path, "kv_heads", problem));
        }
        if !self.rotary_dim.is_multiple_of(2) {
            let key = if self.rotary_dim == self.head_dim { "head_dim" } else { "rotary part of head_dim" };
            let problem = format!("{} is odd, but rope turns pairs", self.rotary_dim);
            return Err(ModelError::config(path, key, problem));
        }
        if self.rotary_dim == 0 || self.rotary_dim > self.head_dim {
            let problem = format!("{} of {} elements cannot be turned", self.rotary_dim, self.head_dim);
            return Err(ModelError::config(path, "rotary part of head_dim", problem));
        }
        if !(self.norm_eps > 0.0 && self.norm_eps < 1.0) {
            let problem = format!("{} is outside (0, 1)", self.norm_eps);
            return Err(ModelError::config(path, "norm_eps", problem));
        }
        if let Some(delta) = &self.delta_net {
            check_delta_net(path, delta, self.layers)?;
        }
        check_rope(path, &self.rope)
    }
}

fn within(path: &Path, sizes: &[(&str, usize, usize)]) -> Result<(), ModelError> {
    for &(key, value, limit) in sizes {
        if value == 0 || value > limit {
            let problem = format!("{value} is outside 1..={limit}");
            return Err(ModelError::config(path, key, problem));
        }
    }
    Ok(())
}

fn check_delta_net(path: &Path, delta: &DeltaNet, layers: usize) -> Result<(), ModelError> {
    within(
        path,
        &[
            ("linear_num_key_heads", delta.key_heads, MOST_HEADS),
            ("linear_num_value_heads", delta.value_heads, MOST_HEADS),
            ("linear_key_head_dim", delta.key_dim, 1 << 12),
            ("linear_value_head_dim", delta.value_dim, 1 << 12),
            ("linear_conv_kernel_dim", delta.conv_kernel, 64),
        ],
    )?;
    if !delta.value_heads.is_multiple_of(delta.key_heads) {
        let (values, keys) = (delta.value_heads, delta.key_heads);
        let problem = format!("{values} value heads cannot share {keys} key heads evenly");
        return Err(ModelError::config(path, "linear_num_value_heads", problem));
    }
    if delta.recurrent.len() != layers {
        let problem = format!("names {} layers, num_hidden_layers is {layers}", delta.recurrent.len());
        return Err(ModelError::config(path, "layer_types", problem));
    }
    Ok(())
}

fn check_rope(path: &Path, rope: &Rope) -> Result<(), ModelError> {
    if !(rope.theta.is_finite() && rope.theta >= 1.0) {
        let problem = format!("{} is not a finite number of at least 1", rope.theta);
        return Err(ModelError::config(path, "rope theta", problem));
    }
    let Some(scaling) = &rope.scaling else {
        return Ok(());
    };
    let Llama3Scaling { factor, low_freq, high_freq, original_positions } = *scaling;
    let sound = [factor, low_freq, high_freq, original_positions].iter().all(|value| value.is_finite() && *value > 0.0);
    if !sound || factor < 1.0 || high_freq <= low_freq {
        let problem = format!("{scaling:?} needs positive numbers, factor >= 1 and high_freq > low_freq");
        return Err(ModelError::config(path, "rope scaling", problem));
    }
    Ok(())
}
