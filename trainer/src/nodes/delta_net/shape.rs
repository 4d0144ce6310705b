//! What a Gated DeltaNet layer computes with.

use crate::nodes::Real;

/// Head counts and sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaShape {
    /// Heads of queries and keys.
    pub key_heads: usize,
    /// Heads of values, a multiple of `key_heads`; value head j uses key head j / (value_heads / key_heads).
    pub value_heads: usize,
    /// Elements of a query or key head.
    pub key_dim: usize,
    /// Elements of a value head.
    pub value_dim: usize,
    /// Taps of the convolution; the last one is the token itself.
    pub kernel: usize,
}

impl DeltaShape {
    /// Channels of the convolution: queries, then keys, then values.
    pub fn channels(&self) -> usize {
        2 * self.key_heads * self.key_dim + self.values()
    }

    /// Values of all heads: width of z and of the node's output.
    pub fn values(&self) -> usize {
        self.value_heads * self.value_dim
    }

    /// Elements of one sequence's state, `[value_heads][key_dim][value_dim]`.
    pub fn state(&self) -> usize {
        self.value_heads * self.key_dim * self.value_dim
    }

    /// Elements of the rows of u before a token that its convolution reads.
    pub fn history(&self) -> usize {
        (self.kernel - 1) * self.channels()
    }

    /// Value heads that share a key head.
    pub(super) fn group(&self) -> usize {
        self.value_heads / self.key_heads
    }

    /// First channel of each part of a key head's share: its query, its key, the values of its group.
    pub(super) fn parts(&self, head: usize) -> [(usize, usize); 3] {
        let keys = self.key_heads * self.key_dim;
        let values = self.group() * self.value_dim;
        [
            (head * self.key_dim, self.key_dim),
            (keys + head * self.key_dim, self.key_dim),
            (2 * keys + head * values, values),
        ]
    }
}

/// Frozen weights of the node.
pub struct DeltaWeights<T = f32> {
    /// Convolution, `[kernel][channels]`: the checkpoint's `[channels, 1, kernel]` transposed.
    pub conv: Vec<T>,
    /// e^A_log per value head: the decay of a step is e^(−rate·softplus(a + dt_bias)).
    pub rate: Vec<T>,
    /// Added to a, per value head.
    pub dt_bias: Vec<T>,
    /// Weight of the output norm, `[value_dim]`, shared by all heads.
    pub norm: Vec<T>,
    /// Epsilon of the output norm.
    pub norm_eps: T,
}

/// The projections' outputs, one row a token.
#[derive(Clone, Copy)]
pub struct DeltaInput<'a, T = f32> {
    /// `in_proj_qkv`: `[T, channels]`.
    pub u: &'a [T],
    /// `in_proj_z`: `[T, values]`.
    pub z: &'a [T],
    /// `in_proj_b`: `[T, value_heads]`.
    pub b: &'a [T],
    /// `in_proj_a`: `[T, value_heads]`.
    pub a: &'a [T],
}

/// Gradients of a [`DeltaInput`], overwritten.
pub struct DeltaGrads<'a, T = f32> {
    /// `[T, channels]`.
    pub u: &'a mut [T],
    /// `[T, values]`.
    pub z: &'a mut [T],
    /// `[T, value_heads]`.
    pub b: &'a mut [T],
    /// `[T, value_heads]`.
    pub a: &'a mut [T],
}

/// What a sequence has left behind: enough to go on with its next token.
#[derive(Clone, Debug, PartialEq)]
pub struct DeltaState<T = f32> {
    /// The last `kernel − 1` rows of u, zeros before the first token.
    pub history: Vec<T>,
    /// S of every value head, `[value_heads][key_dim][value_dim]`.
    pub state: Vec<T>,
}

impl<T: Real> DeltaState<T> {
    /// Before the first token.
    pub fn start(shape: DeltaShape) -> Self {
        DeltaState { history: vec![T::ZERO; shape.history()], state: vec![T::ZERO; shape.state()] }
    }
}
