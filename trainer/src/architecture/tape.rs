//! What the forward pass leaves for the backward pass.

use super::layer::LayerTape;
use crate::memory::{Choice, LayerBytes, TooSmall, choose};

/// Which layers' activations are kept for the backward pass. The bits are the same either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Activations {
    /// Keep of every layer what backward cannot cheaply recompute.
    #[default]
    Store,
    /// Keep only the layers' inputs and run each layer's forward pass again.
    Recompute,
    /// Keep as many layers as fit this many bytes, inputs and the layer at work included.
    Within(u64),
}

impl Activations {
    /// Decides, layer by layer.
    ///
    /// # Errors
    /// Fewer bytes than the inputs and one layer at work need.
    pub fn choose(self, layers: &[LayerBytes]) -> Result<Choice, TooSmall> {
        match self {
            Activations::Store => choose(layers, None),
            Activations::Recompute => Ok(Choice::recompute_all(layers)),
            Activations::Within(bytes) => choose(layers, Some(bytes)),
        }
    }
}

/// What the forward pass keeps of one layer: its input, and the rest if it is stored.
pub(super) struct Kept {
    pub x: Vec<f32>,
    pub tape: Option<LayerTape>,
}
