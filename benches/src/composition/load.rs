use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;

use hexagon_runtime::{Precision, ProjectionId, Runtime, RuntimeBuilder, WeightData};
use trainer::adapter::Adapter;
use trainer::model_file::ModelFile;
use trainer::nodes::DeltaShape;
use trainer::registry::ModelConfig;

use super::norm::RmsNorm;
use super::product::Frozen;
use super::tape::Tensor;

type Loaded<T> = Result<T, Box<dyn Error>>;

/// The frozen projections of a composition, kept in the trainer's runtime under names of their own.
pub struct Registered(HashMap<String, (ProjectionId, (usize, usize))>);

impl Registered {
    /// Adds the model's projections in f32.
    ///
    /// # Errors
    /// A tensor that cannot be read or that the builder refuses.
    pub fn add(model: &ModelFile, builder: &mut RuntimeBuilder) -> Loaded<Registered> {
        let mut all = HashMap::new();
        for projection in model.config.projections() {
            let (out, in_) = (projection.rows, projection.cols);
            let values = model.tensors.read_f32(&format!("{}.weight", projection.name))?;
            let name = format!("separate.{}", projection.name);
            let id = builder.add_as(&name, out, in_, WeightData::F32(&values), Precision::F32)?;
            all.insert(projection.name, (id, (out, in_)));
        }
        Ok(Registered(all))
    }
}

/// What a layer reads beside its projections.
pub(super) struct Layer {
    pub input_norm: RmsNorm,
    pub post_norm: RmsNorm,
    pub mixer: Mixer,
}

pub(super) enum Mixer {
    Attention { q_norm: RmsNorm, k_norm: RmsNorm },
    DeltaNet { shape: DeltaShape, conv: Tensor, dt_bias: Tensor, rate: Tensor, norm: RmsNorm },
}

/// A frozen Qwen3.5 model, an adapter, and the runtime that both sides of the comparison use.
pub struct Composition {
    pub(super) config: ModelConfig,
    pub(super) adapter: Adapter,
    /// A and B of every pair of the adapter.
    pub(super) parameters: Vec<[Tensor; 2]>,
    pub(super) frozen: HashMap<String, Frozen>,
    pub(super) layers: Vec<Layer>,
    pub(super) final_norm: RmsNorm,
    /// `[vocab, hidden]` in f32.
    pub(super) embedding: Tensor,
    /// The same tensor if the head is tied.
    pub(super) head: Tensor,
}

impl Composition {
    /// Takes norms, convolutions, gates and the vocabulary from the file, the adapter as it is.
    ///
    /// # Errors
    /// A tensor that cannot be read.
    pub fn load(
        model: &ModelFile,
        registered: Registered,
        runtime: &Rc<RefCell<Runtime>>,
        adapter: &Adapter,
    ) -> Loaded<Composition> {
        let config = model.config.clone();
        let frozen = |(name, (id, shape))| (name, Frozen { runtime: runtime.clone(), id, shape });
        let part = |range: &std::ops::Range<usize>| Arc::new(adapter.values[range.clone()].to_vec());
        let embedding = Arc::new(model.tensors.read_f32("model.embed_tokens.weight")?);
        let head = match config.tied_head {
            true => embedding.clone(),
            false => Arc::new(model.tensors.read_f32("lm_head.weight")?),
        };
        Ok(Composition {
            parameters: adapter.pairs().iter().map(|pair| [part(&pair.a), part(&pair.b)]).collect(),
            adapter: adapter.clone(),
            frozen: registered.0.into_iter().map(frozen).collect(),
            layers: (0..config.layers).map(|index| layer(model, index)).collect::<Loaded<_>>()?,
            final_norm: norm(model, "model.norm", 1.0)?,
            embedding,
            head,
            config,
        })
    }
}

fn layer(model: &ModelFile, index: usize) -> Loaded<Layer> {
    let prefix = format!("model.layers.{index}");
    let mixer = match model.config.recurrent(index) {
        None => Mixer::Attention {
            q_norm: norm(model, &format!("{prefix}.self_attn.q_norm"), 1.0)?,
            k_norm: norm(model, &format!("{prefix}.self_attn.k_norm"), 1.0)?,
        },
        Some(delta) => {
            let read = |part: &str| model.tensors.read_f32(&format!("{prefix}.linear_attn.{part}"));
            let (kernel, channels) = (delta.conv_kernel, delta.channels());
            let conv = read("conv1d.weight")?;
            Mixer::DeltaNet {
                shape: DeltaShape {
                    key_heads: delta.key_heads,
                    value_heads: delta.value_heads,
                    key_dim: delta.key_dim,
                    value_dim: delta.value_dim,
                    kernel,
                },
                // [channels, 1, kernel] to [kernel][channels].
                conv: Arc::new((0..kernel * channels).map(|i| conv[i % channels * kernel + i / channels]).collect()),
                dt_bias: Arc::new(read("dt_bias")?),
                rate: Arc::new(read("A_log")?.into_iter().map(|log| -log.exp()).collect()),
                norm: norm(model, &format!("{prefix}.linear_attn.norm"), 0.0)?,
            }
        }
    };
    Ok(Layer {
        input_norm: norm(model, &format!("{prefix}.input_layernorm"), 1.0)?,
        post_norm: norm(model, &format!("{prefix}.post_attention_layernorm"), 1.0)?,
        mixer,
    })
}

/// Most of Qwen3.5's norms store their weight around 0 and multiply with 1 more.
fn norm(model: &ModelFile, name: &str, more: f32) -> Loaded<RmsNorm> {
    let weight = model.tensors.read_f32(&format!("{name}.weight"))?;
    Ok(RmsNorm { weight: Arc::new(weight.into_iter().map(|w| w + more).collect()), eps: model.config.norm_eps })
}
