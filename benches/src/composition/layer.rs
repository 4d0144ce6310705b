use trainer::nodes::DeltaShape;

use super::convolution::convolution;
use super::delta_rule::delta_rule;
use super::elementwise::{add, add_row, exponential, mul, mul_row, scale, sigmoid, silu, softplus};
use super::heads::{Piece, rope, split, to_heads, to_rows};
use super::load::Mixer;
use super::norm::{RmsNorm, l2_norm, rms_norm};
use super::product::HeadProduct;
use super::softmax::{causal_mask, softmax};
use super::step::Pass;
use super::tape::{Tensor, Var};

impl Pass<'_> {
    /// The stream after layer `index`.
    pub fn layer(&mut self, index: usize, x: &Var) -> Var {
        let layer = &self.model.layers[index];
        let normed = rms_norm(&mut self.tape, x, &layer.input_norm);
        let mixed = match &layer.mixer {
            Mixer::Attention { q_norm, k_norm } => self.attention(index, &normed, q_norm, k_norm),
            Mixer::DeltaNet { shape, conv, dt_bias, rate, norm } => {
                self.delta_net(index, &normed, *shape, [conv, dt_bias, rate], norm)
            }
        };
        let x = add(&mut self.tape, x, &mixed);
        let normed = rms_norm(&mut self.tape, &x, &layer.post_norm);
        let inner = self.mlp(index, &normed);
        add(&mut self.tape, &x, &inner)
    }

    fn mlp(&mut self, index: usize, x: &Var) -> Var {
        let name = |part: &str| format!("model.layers.{index}.mlp.{part}");
        let gate = self.adapted(&name("gate_proj"), x);
        let up = self.adapted(&name("up_proj"), x);
        let gate = silu(&mut self.tape, &gate);
        let inner = mul(&mut self.tape, &gate, &up);
        self.adapted(&name("down_proj"), &inner)
    }

    fn delta_net(&mut self, index: usize, x: &Var, shape: DeltaShape, rows: [&Tensor; 3], norm: &RmsNorm) -> Var {
        let name = |part: &str| format!("model.layers.{index}.linear_attn.{part}");
        let [u, z, b, a] = ["in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a"].map(|p| self.adapted(&name(p), x));
        let [conv, dt_bias, rate] = rows;
        let tape = &mut self.tape;
        let u = convolution(tape, &u, conv, shape.channels());
        let u = silu(tape, &u);
        let keys = shape.key_heads * shape.key_dim;
        let pieces = [Piece::dense(0, keys), Piece::dense(keys, keys), Piece::dense(2 * keys, shape.values())];
        let parts = split(tape, &u, shape.channels(), pieces.to_vec());
        let q = l2_norm(tape, &parts[0], shape.key_dim);
        let q = scale(tape, &q, 1.0 / (shape.key_dim as f32).sqrt());
        let k = l2_norm(tape, &parts[1], shape.key_dim);
        let beta = sigmoid(tape, &b);
        let a = add_row(tape, &a, dt_bias);
        let a = softplus(tape, &a);
        let a = mul_row(tape, &a, rate);
        let decay = exponential(tape, &a);
        let o = delta_rule(tape, shape, [&q, &k, &parts[2], &beta, &decay]);
        let o = rms_norm(tape, &o, norm);
        let gate = silu(tape, &z);
        let mixed = mul(tape, &o, &gate);
        self.adapted(&name("out_proj"), &mixed)
    }

    fn attention(&mut self, index: usize, x: &Var, q_norm: &RmsNorm, k_norm: &RmsNorm) -> Var {
        let (heads, groups, dim) = (self.model.config.heads, self.model.config.kv_heads, self.model.config.head_dim);
        let name = |part: &str| format!("model.layers.{index}.self_attn.{part}");
        let [q, k, v] = ["q_proj", "k_proj", "v_proj"].map(|part| self.adapted(&name(part), x));
        let (tokens, rotation, tape) = (self.tokens, self.rotation.clone(), &mut self.tape);
        let piece = |first| Piece { first, heads, dim, stride: 2 * dim };
        let query_and_gate = split(tape, &q, 2 * heads * dim, vec![piece(0), piece(dim)]);
        let q = rms_norm(tape, &query_and_gate[0], q_norm);
        let q = rope(tape, &q, &rotation, dim);
        let k = rms_norm(tape, &k, k_norm);
        let k = rope(tape, &k, &rotation, dim);
        let v = to_heads(tape, &v, tokens, dim);
        let product = HeadProduct { heads, groups, rows: tokens, inner: dim, cols: tokens, transposed: true };
        let scores = product.apply(tape, &q, &k);
        let scores = scale(tape, &scores, 1.0 / (dim as f32).sqrt());
        let scores = causal_mask(tape, &scores, tokens);
        let shares = softmax(tape, &scores, tokens);
        let product = HeadProduct { inner: tokens, cols: dim, transposed: false, ..product };
        let attended = product.apply(tape, &shares, &v);
        let attended = to_rows(tape, &attended, tokens, dim);
        let gate = sigmoid(tape, &query_and_gate[1]);
        let mixed = mul(tape, &attended, &gate);
        self.adapted(&name("o_proj"), &mixed)
    }
}
