//! One decoder layer, backward. Frozen weights get no gradient; the input's gradient goes through
//! the NPU (dX = dY·W), the adapters' gradients are computed on the CPU meanwhile.

use super::ArchitectureError;
use super::layer::{DOWN, GATE_UP, Layer, O, QKV, add};
use super::pass::Pass;
use super::tape::LayerTape;
use crate::nodes::{LoraGroup, attention_backward, rms_norm, rms_norm_backward, split_heads, swiglu, swiglu_backward};

impl Layer {
    /// Takes the gradient `dx` of the layer's output, adds the adapters' gradients to `grads` and
    /// gives the gradient of the layer's input `x`, or what there is of it if it is not `wanted`:
    /// products that nobody needs are not asked for.
    pub fn backward(
        &self,
        pass: &mut Pass<'_>,
        x: &[f32],
        mut tape: LayerTape,
        mut dx: Vec<f32>,
        wanted: bool,
        grads: &mut [f32],
    ) -> Result<Vec<f32>, ArchitectureError> {
        let qkv = self.group(QKV, pass.adapter, pass.training);
        let o = self.group(O, pass.adapter, pass.training);
        let below_heads = wanted || qkv.is_some();
        let below_mlp = below_heads || o.is_some();

        let d_normed = self.mlp_backward(pass, &mut tape, &dx, below_mlp, grads)?;
        if !below_mlp {
            return Ok(dx);
        }
        rms_norm_backward(&tape.x_mid, &self.post_norm, self.norm_eps, &d_normed, &mut dx);

        let d_attended = self.leave_attention_backward(pass, &tape, &dx, o, below_heads, grads)?;
        if !below_heads {
            return Ok(dx);
        }
        let d_normed = self.attention_backward(pass, x, &tape, &d_attended, qkv, wanted, grads)?;
        if wanted {
            rms_norm_backward(x, &self.input_norm, self.norm_eps, &d_normed, &mut dx);
        }
        Ok(dx)
    }

    /// Through down, SwiGLU, gate and up to the MLP's normed input. Uses up `gate` and `up`.
    fn mlp_backward(
        &self,
        pass: &mut Pass<'_>,
        tape: &mut LayerTape,
        dx: &[f32],
        wanted: bool,
        grads: &mut [f32],
    ) -> Result<Vec<f32>, ArchitectureError> {
        let (tokens, key) = (pass.tokens, pass.dropout);
        let down = self.group(DOWN, pass.adapter, pass.training);
        let gate_up = self.group(GATE_UP, pass.adapter, pass.training);
        let inner_wanted = wanted || gate_up.is_some();

        let (mut d_inner, d_low) = pass.input_grad(inner_wanted, self.ids[6], dx, self.intermediate, || {
            let group = down.as_ref()?;
            let mut inner = vec![0.0; tape.gate.len()];
            swiglu(&tape.gate, &tape.up, &mut inner);
            if tape.low_down.is_empty() {
                tape.low_down = group.down(&inner, tokens, key);
            }
            let mut d_low = group.low_grads(tokens);
            group.up_backward(0, dx, &tape.low_down, tokens, &mut d_low, grads);
            group.down_backward(&inner, &d_low, tokens, key, grads);
            Some(d_low)
        })?;
        if !inner_wanted {
            return Ok(Vec::new());
        }
        if let (Some(group), Some(d_low)) = (&down, &d_low) {
            group.input_backward(d_low, tokens, key, &mut d_inner);
        }
        swiglu_backward(&mut tape.gate, &mut tape.up, &d_inner);
        drop(d_inner);

        let mut d_low = gate_up.as_ref().map_or_else(Vec::new, |g| g.low_grads(tokens));
        let (d_gate, d_up, low) = (&tape.gate, &tape.up, &tape.low_gate_up);
        let (mut d_normed, ()) = pass.input_grad(wanted, self.ids[4], d_gate, self.hidden, || {
            up_backward(&gate_up, 0, d_gate, low, tokens, &mut d_low, grads);
        })?;
        let (from_up, ()) = pass.input_grad(wanted, self.ids[5], d_up, self.hidden, || {
            up_backward(&gate_up, 1, d_up, low, tokens, &mut d_low, grads);
            if let Some(group) = &gate_up {
                let mut normed = vec![0.0; tape.x_mid.len()];
                rms_norm(&tape.x_mid, &self.post_norm, self.norm_eps, &mut normed);
                group.down_backward(&normed, &d_low, tokens, key, grads);
            }
        })?;
        if wanted {
            add(&mut d_normed, &from_up);
            if let Some(group) = &gate_up {
                group.input_backward(&d_low, tokens, key, &mut d_normed);
            }
        }
        Ok(d_normed)
    }

    /// Through o to the attention's output rows.
    fn leave_attention_backward(
        &self,
        pass: &mut Pass<'_>,
        tape: &LayerTape,
        dx: &[f32],
        o: Option<LoraGroup<'_>>,
        wanted: bool,
        grads: &mut [f32],
    ) -> Result<Vec<f32>, ArchitectureError> {
        let (tokens, key) = (pass.tokens, pass.dropout);
        let (mut d_attended, d_low) = pass.input_grad(wanted, self.ids[3], dx, self.shapes[3].input, || {
            let group = o.as_ref()?;
            let mut d_low = group.low_grads(tokens);
            group.up_backward(0, dx, &tape.low_o, tokens, &mut d_low, grads);
            group.down_backward(&tape.attended, &d_low, tokens, key, grads);
            Some(d_low)
        })?;
        if let (true, Some(group), Some(d_low)) = (wanted, &o, &d_low) {
            group.input_backward(d_low, tokens, key, &mut d_attended);
        }
        Ok(d_attended)
    }

    /// Through attention and rope to the normed input of q, k and v: their shares are summed in
    /// that order, then the adapters'.
    #[allow(clippy::too_many_arguments)]
    fn attention_backward(
        &self,
        pass: &mut Pass<'_>,
        x: &[f32],
        tape: &LayerTape,
        d_attended: &[f32],
        qkv: Option<LoraGroup<'_>>,
        wanted: bool,
        grads: &mut [f32],
    ) -> Result<Vec<f32>, ArchitectureError> {
        let (tokens, dim, key) = (pass.tokens, self.attention.head_dim, pass.dropout);
        let mut d_heads = vec![0.0; d_attended.len()];
        split_heads(d_attended, tokens, dim, &mut d_heads);
        let (mut dq, mut dk, mut dv) = (vec![0.0; tape.q.len()], vec![0.0; tape.k.len()], vec![0.0; tape.v.len()]);
        attention_backward(
            self.attention,
            (&tape.q, &tape.k, &tape.v),
            &tape.attended,
            &tape.log_sum,
            &d_heads,
            &pass.spans,
            (&mut dq, &mut dk, &mut dv),
        );
        let [mut q_rows, mut k_rows, mut v_rows] = [&dq, &dk, &dv].map(|d| vec![0.0; d.len()]);
        pass.rotation.backward(&dq, &mut q_rows);
        pass.rotation.backward(&dk, &mut k_rows);
        crate::nodes::join_heads(&dv, tokens, dim, &mut v_rows);

        let mut d_low = qkv.as_ref().map_or_else(Vec::new, |g| g.low_grads(tokens));
        let mut d_normed = Vec::new();
        for (slot, rows) in [&q_rows, &k_rows, &v_rows].into_iter().enumerate() {
            let (share, ()) = pass.input_grad(wanted, self.ids[slot], rows, self.hidden, || {
                up_backward(&qkv, slot, rows, &tape.low_qkv, tokens, &mut d_low, grads);
            })?;
            if slot == 0 {
                d_normed = share;
            } else {
                add(&mut d_normed, &share);
            }
        }
        if let Some(group) = &qkv {
            let mut normed = vec![0.0; x.len()];
            rms_norm(x, &self.input_norm, self.norm_eps, &mut normed);
            group.down_backward(&normed, &d_low, tokens, key, grads);
            if wanted {
                group.input_backward(&d_low, tokens, key, &mut d_normed);
            }
        }
        Ok(d_normed)
    }
}

fn up_backward(
    group: &Option<LoraGroup<'_>>,
    slot: usize,
    dy: &[f32],
    low: &[f32],
    rows: usize,
    d_low: &mut [f32],
    grads: &mut [f32],
) {
    if let Some(group) = group {
        group.up_backward(slot, dy, low, rows, d_low, grads);
    }
}
