//! What the forward pass leaves for the backward pass.

use super::layer::LayerTape;

/// Whether a layer's activations are kept for the backward pass. Both give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Activations {
    /// Keep what backward cannot cheaply recompute.
    #[default]
    Store,
    /// Keep only the layer's input and run its forward pass again.
    Recompute,
}

/// What the forward pass keeps of one layer: its input, and the rest if it is stored.
pub(super) struct Kept {
    pub x: Vec<f32>,
    pub tape: Option<LayerTape>,
}
