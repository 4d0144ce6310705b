//! What the forward pass leaves for the backward pass of one layer.

/// Whether a layer's activations are kept for the backward pass. Both give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Activations {
    /// Keep what backward cannot cheaply recompute.
    #[default]
    Store,
    /// Keep only the layer's input and run its forward pass again.
    Recompute,
}

/// Values kept per layer; token-major unless said otherwise.
pub(super) struct LayerTape {
    /// Queries after rope, head-major `[heads][T][head_dim]`.
    pub q: Vec<f32>,
    /// Keys after rope, head-major `[kv_heads][T][head_dim]`.
    pub k: Vec<f32>,
    /// Values, head-major.
    pub v: Vec<f32>,
    /// Attention output `[T, heads·head_dim]`, the input of `o_proj`.
    pub attended: Vec<f32>,
    /// Log-sum-exp of each query's scores, `[heads][T]`.
    pub log_sum: Vec<f32>,
    /// Residual stream between attention and MLP, `[T, hidden]`.
    pub x_mid: Vec<f32>,
    /// `gate_proj` output, `[T, intermediate]`.
    pub gate: Vec<f32>,
    /// `up_proj` output, `[T, intermediate]`.
    pub up: Vec<f32>,
    /// `A·x` of the adapters on q, k, v.
    pub low_qkv: Vec<f32>,
    /// `A·x` of the adapter on o.
    pub low_o: Vec<f32>,
    /// `A·x` of the adapters on gate and up.
    pub low_gate_up: Vec<f32>,
    /// `A·x` of the adapter on down.
    pub low_down: Vec<f32>,
}
