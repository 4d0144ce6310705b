//! One decoder layer: h += mixer(norm(h)), then h += mlp(norm(h)). Frozen weights get no gradient; the input's gradient
//! goes through the NPU (dX = dY·W), the adapters' gradients are computed on the CPU meanwhile.

use super::ArchitectureError;
use super::adapted;
use super::attention_mixer::{AttentionMixer, AttentionTape};
use super::cache::Step;
use super::delta_mixer::{DeltaMixer, DeltaTape};
use super::mlp::{Mlp, MlpTape};
use super::norm::{Norm, Normed};
use super::pass::Pass;
use crate::adapter::{Adapter, ProjectionShape};

pub(super) struct Layer {
    pub index: usize,
    pub input_norm: Norm,
    pub mixer: Mixer,
    pub post_norm: Norm,
    pub mlp: Mlp,
}

/// What moves information between tokens.
pub(super) enum Mixer {
    Attention(AttentionMixer),
    DeltaNet(DeltaMixer),
}

/// Values kept of a layer, beside its input.
pub(super) struct LayerTape {
    mixer: MixerTape,
    /// Residual stream between mixer and MLP, `[T, hidden]`.
    x_mid: Vec<f32>,
    mlp: MlpTape,
}

enum MixerTape {
    Attention(AttentionTape),
    DeltaNet(DeltaTape),
}

impl Layer {
    /// Name and shape of every projection, in model order.
    pub fn projections(&self) -> impl Iterator<Item = &ProjectionShape> {
        let (inputs, output) = match &self.mixer {
            Mixer::Attention(mixer) => (mixer.qkv.as_slice(), &mixer.o),
            Mixer::DeltaNet(mixer) => (mixer.inputs.as_slice(), &mixer.out),
        };
        let mlp = self.mlp.gate_up.iter().chain([&self.mlp.down]);
        inputs.iter().chain([output]).chain(mlp).map(|p| &p.shape)
    }

    /// Whether any projection of the layer carries an adapter.
    pub fn is_adapted(&self, adapter: &Adapter) -> bool {
        self.projections().any(|shape| adapter.index_of(&shape.name).is_some())
    }

    fn input<'a>(&'a self, x: &'a [f32]) -> Normed<'a> {
        Normed { norm: &self.input_norm, x }
    }

    fn middle<'a>(&'a self, x: &'a [f32]) -> Normed<'a> {
        Normed { norm: &self.post_norm, x }
    }

    /// Training forward up to the MLP's inner values; [`Layer::finish`] gives the layer's output.
    pub fn begin(&self, pass: &mut Pass<'_>, x: &[f32]) -> Result<LayerTape, ArchitectureError> {
        let (x_mid, mixer) = match &self.mixer {
            Mixer::Attention(mixer) => {
                let (x_mid, tape) = mixer.forward(pass, self.input(x))?;
                (x_mid, MixerTape::Attention(tape))
            }
            Mixer::DeltaNet(mixer) => {
                let (x_mid, tape) = mixer.forward(pass, self.input(x))?;
                (x_mid, MixerTape::DeltaNet(tape))
            }
        };
        let mlp = self.mlp.begin(pass, self.middle(&x_mid))?;
        Ok(LayerTape { mixer, x_mid, mlp })
    }

    /// The layer's output.
    pub fn finish(&self, pass: &mut Pass<'_>, tape: &mut LayerTape) -> Result<Vec<f32>, ArchitectureError> {
        let (out, low_down) = self.mlp.finish(pass, &tape.mlp, &tape.x_mid)?;
        tape.mlp.low_down = low_down;
        Ok(out)
    }

    /// The layer's output for new tokens that go on from what the cache holds.
    pub fn infer(&self, pass: &mut Pass<'_>, x: &[f32], step: &mut Step<'_>) -> Result<Vec<f32>, ArchitectureError> {
        let x_mid = match &self.mixer {
            Mixer::Attention(mixer) => mixer.infer(pass, self.input(x), self.index, step)?,
            Mixer::DeltaNet(mixer) => mixer.infer(pass, self.input(x), self.index, step)?,
        };
        let tape = self.mlp.begin(pass, self.middle(&x_mid))?;
        Ok(self.mlp.finish(pass, &tape, &x_mid)?.0)
    }

    /// Takes the gradient `dx` of the layer's output, adds the adapters' gradients to `grads` and gives the gradient of
    /// the layer's input `x`, or what there is of it if it is not `wanted`: products that nobody needs are not asked for.
    pub fn backward(
        &self,
        pass: &mut Pass<'_>,
        x: &[f32],
        tape: LayerTape,
        mut dx: Vec<f32>,
        wanted: bool,
        grads: &mut [f32],
    ) -> Result<Vec<f32>, ArchitectureError> {
        let below_mlp = wanted || self.mixer.is_adapted(pass);
        let LayerTape { mixer, x_mid, mlp } = tape;
        let d_normed = self.mlp.backward(pass, self.middle(&x_mid), mlp, &dx, below_mlp, grads)?;
        if !below_mlp {
            return Ok(dx);
        }
        self.post_norm.backward(&x_mid, &d_normed, &mut dx);
        let input = self.input(x);
        let d_normed = match (&self.mixer, mixer) {
            (Mixer::Attention(mixer), MixerTape::Attention(tape)) => {
                mixer.backward(pass, input, tape, &dx, wanted, grads)?
            }
            (Mixer::DeltaNet(mixer), MixerTape::DeltaNet(tape)) => {
                mixer.backward(pass, input, tape, &dx, wanted, grads)?
            }
            _ => unreachable!("a layer's tape is of its own mixer"),
        };
        if wanted {
            self.input_norm.backward(x, &d_normed, &mut dx);
        }
        Ok(dx)
    }
}

impl Mixer {
    fn is_adapted(&self, pass: &Pass<'_>) -> bool {
        let Some(adapter) = pass.adapter else { return false };
        let one = std::slice::from_ref;
        match self {
            Mixer::Attention(mixer) => {
                adapted::any_adapted(&mixer.qkv, adapter) || adapted::any_adapted(one(&mixer.o), adapter)
            }
            Mixer::DeltaNet(mixer) => {
                adapted::any_adapted(&mixer.inputs, adapter) || adapted::any_adapted(one(&mixer.out), adapter)
            }
        }
    }
}

#[cfg(test)]
impl LayerTape {
    /// Values held.
    pub fn values(&self) -> usize {
        let mixer = match &self.mixer {
            MixerTape::Attention(tape) => tape.values(),
            MixerTape::DeltaNet(tape) => tape.values(),
        };
        mixer + self.x_mid.len() + self.mlp.values()
    }
}
