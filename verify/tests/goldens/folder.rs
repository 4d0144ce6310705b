//! The folders, and a model opened from one.

use hexagon_runtime::{DeviceKind, Precision, Runtime, RuntimeBuilder, RuntimeConfig};
use serde_json::Value;
use std::path::{Path, PathBuf};
use trainer::adapter::{Adapter, BaseModel};
use trainer::architecture::Llama;
use trainer::model_file::ModelFile;
use trainer::registry::PrecisionPolicy;

pub fn json(path: &Path) -> Value {
    let text = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every reference folder of an architecture the trainer has.
pub fn all() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference");
    let more = std::env::var_os("PERMAFROST_REFERENCE").map(PathBuf::from);
    let mut folders = Vec::new();
    for root in [Some(own), more].into_iter().flatten() {
        let entries = std::fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
        folders.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| is_supported(path)));
    }
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

fn is_supported(folder: &Path) -> bool {
    let config = folder.join("config.json");
    config.is_file() && folder.join("golden.json").is_file() && json(&config)["model_type"] == "llama"
}

pub struct Subject {
    pub llama: Llama,
    pub runtime: Runtime,
    pub base: BaseModel,
}

impl Subject {
    pub fn open(folder: &Path, device: DeviceKind, precision: Precision) -> Subject {
        let model = ModelFile::open(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut builder = RuntimeBuilder::new(RuntimeConfig { device, precision, ..RuntimeConfig::default() });
        let llama = Llama::load(&model, &mut builder, PrecisionPolicy::uniform(precision)).unwrap();
        let runtime = builder.start().unwrap();
        let fingerprint = model.tensors.fingerprint().unwrap();
        let base = BaseModel { name: folder.display().to_string(), fingerprint };
        Subject { llama, runtime, base }
    }

    pub fn cpu(folder: &Path) -> Subject {
        Subject::open(folder, DeviceKind::Cpu, Precision::F32)
    }

    pub fn adapter(&self, folder: &Path) -> Adapter {
        Adapter::load(folder, self.llama.projections(), &self.base).unwrap()
    }
}
