//! Published models by name, so that a plan needs no file at all. Sizes are those of the makers' own configurations.

use super::Architecture;
use super::config::{DeltaNet, Llama3Scaling, ModelConfig, Rope};

/// A name no preset has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no preset is called `{name}`; there are {}. For another model give its config.json with --config", PRESETS.map(|p| p.name).join(", "))]
pub struct UnknownPreset {
    /// The name asked for.
    pub name: String,
}

struct Preset {
    name: &'static str,
    config: fn() -> ModelConfig,
}

const PRESETS: [Preset; 7] = [
    Preset { name: "Qwen3.5-0.8B", config: || qwen3_5([1024, 24, 3584, 8, 2, 16], true) },
    Preset { name: "Qwen3.5-2B", config: || qwen3_5([2048, 24, 6144, 8, 2, 16], true) },
    Preset { name: "Qwen3.5-4B", config: || qwen3_5([2560, 32, 9216, 16, 4, 32], true) },
    Preset { name: "Qwen3.5-9B", config: || qwen3_5([4096, 32, 12288, 16, 4, 32], false) },
    Preset { name: "Qwen3-4B", config: qwen3_4b },
    Preset { name: "Llama-3.2-1B", config: || llama3_2([2048, 16, 32, 64]) },
    Preset { name: "Llama-3.2-3B", config: || llama3_2([3072, 28, 24, 128]) },
];

/// The presets' names, as their makers write them.
pub fn preset_names() -> [&'static str; PRESETS.len()] {
    PRESETS.map(|preset| preset.name)
}

impl ModelConfig {
    /// The preset called `name`, in upper or lower case; gives the maker's spelling too.
    ///
    /// # Errors
    /// [`UnknownPreset`], which lists those there are.
    pub fn preset(name: &str) -> Result<(&'static str, ModelConfig), UnknownPreset> {
        let found = PRESETS.iter().find(|preset| preset.name.eq_ignore_ascii_case(name.trim()));
        found.map(|preset| (preset.name, (preset.config)())).ok_or_else(|| UnknownPreset { name: name.to_owned() })
    }
}

/// Hidden, layers, intermediate, query heads, key heads, value heads of the recurrence.
fn qwen3_5(sizes: [usize; 6], tied_head: bool) -> ModelConfig {
    let [hidden, layers, intermediate, heads, kv_heads, value_heads] = sizes;
    ModelConfig {
        architecture: Architecture::Qwen3_5,
        hidden,
        layers,
        heads,
        kv_heads,
        head_dim: 256,
        rotary_dim: 64,
        intermediate,
        vocab: 248_320,
        norm_eps: 1e-6,
        rope: Rope { theta: 1e7, scaling: None },
        tied_head,
        max_positions: 262_144,
        delta_net: Some(DeltaNet {
            recurrent: (0..layers).map(|layer| layer % 4 != 3).collect(),
            key_heads: 16,
            value_heads,
            key_dim: 128,
            value_dim: 128,
            conv_kernel: 4,
        }),
    }
}

fn qwen3_4b() -> ModelConfig {
    ModelConfig {
        architecture: Architecture::Qwen3,
        hidden: 2560,
        layers: 36,
        heads: 32,
        kv_heads: 8,
        head_dim: 128,
        rotary_dim: 128,
        intermediate: 9728,
        vocab: 151_936,
        norm_eps: 1e-6,
        rope: Rope { theta: 1e6, scaling: None },
        tied_head: true,
        max_positions: 40_960,
        delta_net: None,
    }
}

/// Hidden, layers, query heads, width of a head.
fn llama3_2([hidden, layers, heads, head_dim]: [usize; 4]) -> ModelConfig {
    let scaling = Llama3Scaling { factor: 32.0, low_freq: 1.0, high_freq: 4.0, original_positions: 8192.0 };
    ModelConfig {
        architecture: Architecture::Llama,
        hidden,
        layers,
        heads,
        kv_heads: 8,
        head_dim,
        rotary_dim: head_dim,
        intermediate: 8192,
        vocab: 128_256,
        norm_eps: 1e-5,
        rope: Rope { theta: 5e5, scaling: Some(scaling) },
        tied_head: true,
        max_positions: 131_072,
        delta_net: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_an_unknown_one_lists_them() {
        for name in preset_names() {
            let (found, config) = ModelConfig::preset(&name.to_lowercase()).unwrap();
            assert_eq!(found, name);
            config.check(std::path::Path::new(name)).unwrap();
        }
        let error = ModelConfig::preset("gpt-2").unwrap_err().to_string();
        assert!(error.contains("`gpt-2`") && error.contains("Qwen3.5-0.8B, Qwen3.5-2B"), "{error}");
    }
}
