//! Which tensors of a checkpoint belong to the text model, and what they are called there.

use crate::registry::{Architecture, ModelConfig};

/// Canonical name of a tensor; `None` for one that the text model does without.
///
/// Multimodal checkpoints nest the text model one level deeper (`model.language_model.`), and carry a vision tower and
/// layers that predict several tokens ahead.
pub(super) fn canonical(config: &ModelConfig, name: &str) -> Option<String> {
    if config.architecture == Architecture::Qwen3_5 {
        let foreign = ["model.visual.", "visual.", "mtp.", "model.mtp."];
        if foreign.iter().any(|prefix| name.starts_with(prefix)) {
            return None;
        }
        if let Some(rest) = name.strip_prefix("model.language_model.") {
            return Some(format!("model.{rest}"));
        }
    }
    // Constants that old exports saved along, and the head that tying makes a second name of the embedding.
    let second_name = config.tied_head && name == "lm_head.weight";
    (!second_name && !name.ends_with(".rotary_emb.inv_freq")).then(|| name.to_owned())
}
