//! The folders, and a model opened from one.

use hexagon_runtime::{DeviceKind, Precision, Runtime, RuntimeBuilder, RuntimeConfig};
use serde_json::Value;
use std::path::{Path, PathBuf};
use trainer::adapter::{Adapter, BaseModel};
use trainer::architecture::Decoder;
use trainer::model_file::{ModelFile, read_config};
use trainer::registry::{ModelConfig, PrecisionPolicy};

pub fn json(path: &Path) -> Value {
    let text = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every reference folder.
pub fn all() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference");
    let more = std::env::var_os("PERMAFROST_REFERENCE").map(PathBuf::from);
    let mut folders = Vec::new();
    for root in [Some(own), more].into_iter().flatten() {
        let entries = std::fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
        folders.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("golden.json").is_file()));
    }
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

/// Configuration of a folder's model.
pub fn config(folder: &Path) -> ModelConfig {
    read_config(folder).unwrap_or_else(|e| panic!("{e}"))
}

/// How far f32 arithmetic may be from PyTorch's f64, by architecture: the delta rule is worse conditioned.
pub struct Tolerances {
    /// A LoRA gradient, relative to its largest entry; also its norm, and the gradient of the embedding output.
    pub gradient: f64,
    /// A loss of the 20-step curve, relative.
    pub curve: f64,
}

impl Tolerances {
    pub fn of(folder: &Path) -> Tolerances {
        let limit = if config(folder).delta_net.is_some() { 1e-3 } else { 1e-4 };
        Tolerances { gradient: limit, curve: limit }
    }
}

pub struct Subject {
    pub decoder: Decoder,
    pub runtime: Runtime,
    pub base: BaseModel,
}

impl Subject {
    pub fn open(folder: &Path, device: DeviceKind, policy: PrecisionPolicy) -> Subject {
        let model = ModelFile::open(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut builder = RuntimeBuilder::new(RuntimeConfig { device, ..RuntimeConfig::default() });
        let decoder = Decoder::load(&model, &mut builder, policy).unwrap();
        let runtime = builder.start().unwrap();
        let fingerprint = model.tensors.fingerprint().unwrap();
        let base = BaseModel { name: folder.display().to_string(), fingerprint };
        Subject { decoder, runtime, base }
    }

    pub fn cpu(folder: &Path) -> Subject {
        Subject::open(folder, DeviceKind::Cpu, PrecisionPolicy::uniform(Precision::F32))
    }

    pub fn adapter(&self, folder: &Path) -> Adapter {
        Adapter::load(folder, self.decoder.projections(), &self.base).unwrap()
    }
}
