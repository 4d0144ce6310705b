use std::cell::RefCell;
use std::error::Error;
use std::path::Path;
use std::rc::Rc;

use hexagon_runtime::{DeviceKind, Precision, Runtime, RuntimeBuilder, RuntimeConfig};
use trainer::adapter::{Adapter, AdapterGrads, AdapterOptions};
use trainer::architecture::{Decoder, Sequence, StepOptions};
use trainer::model_file::ModelFile;
use trainer::registry::{ModelConfig, PrecisionPolicy};
use trainer::synth::{DEFAULT_SHARD_BYTES, FloatType, Synth, write};
use verify::family::Random;

use crate::composition::{Composition, Registered, Step};

/// Largest difference of the losses.
pub const LOSS_TOLERANCE: f64 = 1e-4;
/// Largest difference of a gradient, by norm, relative to the trainer's.
pub const GRADIENT_TOLERANCE: f64 = 1e-3;

/// The same model with random weights, adapter and rows as the trainer's fused nodes and as separate operators.
pub struct Fusion {
    decoder: Decoder,
    runtime: Rc<RefCell<Runtime>>,
    adapter: Adapter,
    composition: Composition,
    grads: AdapterGrads,
}

/// How far the two sides are apart.
#[derive(Clone, Copy, Debug)]
pub struct Deviation {
    /// |difference| of the losses.
    pub loss: f64,
    /// The gradient that is furthest away: norm of the difference by norm of the trainer's.
    pub gradient: f64,
}

impl Fusion {
    /// Writes a model of `config`'s shapes to `folder`, which must be new or empty, and opens it twice.
    ///
    /// # Errors
    /// A folder or a file that cannot be written or read; a runtime that does not start.
    pub fn open(config: ModelConfig, folder: &Path, threads: usize) -> Result<Fusion, Box<dyn Error>> {
        let (float, shard_bytes) = (FloatType::F32, DEFAULT_SHARD_BYTES);
        let synth = Synth { config, layers: None, seed: 1, float, tokenizer: false, shard_bytes };
        write(folder, &synth, &mut |_, _| ())?;
        let model = ModelFile::open(folder)?;
        let (device, precision) = (DeviceKind::Cpu, Precision::F32);
        let mut builder = RuntimeBuilder::new(RuntimeConfig { device, precision, threads, ..RuntimeConfig::default() });
        let decoder = Decoder::load(&model, &mut builder, PrecisionPolicy::uniform(precision))?;
        let registered = Registered::add(&model, &mut builder)?;
        let runtime = Rc::new(RefCell::new(builder.start()?));
        let mut adapter = Adapter::fresh(decoder.projections(), &AdapterOptions::default())?;
        // A fresh B is zero, and with it every gradient of A.
        let mut random = Random::new(2);
        for pair in adapter.pairs().to_vec() {
            adapter.values[pair.b].iter_mut().for_each(|b| *b = random.signed() * 0.02);
        }
        let composition = Composition::load(&model, registered, &runtime, &adapter)?;
        let grads = AdapterGrads::zeros(&adapter);
        Ok(Fusion { decoder, runtime, adapter, composition, grads })
    }

    /// A sequence of random tokens.
    pub fn ids(&self, tokens: usize) -> Vec<u32> {
        let mut random = Random::new(tokens as u64);
        let vocab = self.decoder.config().vocab;
        let id = |_| ((random.signed() + 1.0) / 2.0 * vocab as f32) as u32;
        (0..tokens).map(id).map(|id| id.min(vocab as u32 - 1)).collect()
    }

    /// The trainer's step with activations stored: the mean loss; the gradients are kept. What the CPU does beside a
    /// request in flight is done after it, as on the other side.
    pub fn fused(&mut self, ids: &[u32]) -> f64 {
        let labels = ids.iter().map(|id| *id as i32).collect();
        let batch = [Sequence { ids: ids.to_vec(), labels, position: 0 }];
        let targets = (ids.len() - 1) as f64;
        let options = StepOptions { loss_scale: (1.0 / targets) as f32, overlap: false, ..StepOptions::default() };
        self.grads.clear();
        let mut runtime = self.runtime.borrow_mut();
        let loss = self.decoder.loss_and_grad(&mut runtime, &self.adapter, &batch, &options, &mut self.grads);
        loss.expect("a legal batch on the CPU").sum_nll / targets
    }

    /// The same step from separate operators.
    pub fn separate(&self, ids: &[u32]) -> Step {
        self.composition.step(ids)
    }

    /// Runs both and compares the loss and every gradient.
    pub fn deviation(&mut self, ids: &[u32]) -> Deviation {
        let fused = self.fused(ids);
        let step = self.separate(ids);
        let grads = step.grads(&self.composition);
        let mut gradient = 0.0f64;
        for range in self.adapter.pairs().iter().flat_map(|pair| [&pair.a, &pair.b]) {
            let (ours, theirs) = (&self.grads.values[range.clone()], &grads[range.clone()]);
            let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
            let apart = norm(&mut ours.iter().zip(theirs).map(|(a, b)| f64::from(*a) - f64::from(*b)));
            // A gradient that is zero on both sides would be 0 / 0, which no comparison holds.
            let relative = apart / norm(&mut ours.iter().map(|a| f64::from(*a)));
            gradient = if relative.is_nan() { f64::INFINITY } else { gradient.max(relative) };
        }
        Deviation { loss: (fused - step.loss).abs(), gradient }
    }
}

impl Deviation {
    /// Whether the two sides compute the same step.
    pub fn holds(&self) -> bool {
        self.loss <= LOSS_TOLERANCE && self.gradient <= GRADIENT_TOLERANCE
    }
}
