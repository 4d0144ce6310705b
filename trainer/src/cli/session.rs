//! A model opened for work: its file, its network, and the runtime of its projections.

use std::path::Path;

use hexagon_runtime::{Runtime, RuntimeBuilder, RuntimeConfig};

use super::device::DeviceArgs;
use super::error::CliError;
use super::output;
use crate::adapter::{Adapter, BaseModel};
use crate::architecture::Decoder;
use crate::eval::Subject;
use crate::model_file::ModelFile;
use crate::text::TextModel;
use crate::weight_cache::{WeightCache, WeightCacheUse};

/// An opened model.
pub(super) struct Session {
    pub model: ModelFile,
    pub decoder: Decoder,
    pub runtime: Runtime,
    weights: WeightCacheUse,
}

impl Session {
    /// Opens `path` and starts the runtime the flags ask for.
    pub fn open(path: &Path, device: &DeviceArgs) -> Result<Session, CliError> {
        Session::configured(path, device, RuntimeConfig::default())
    }

    /// Says what the start-up planner decided: how much runs on the NPU, and what does not, with the reason.
    pub fn announce(&self) {
        match &self.weights {
            WeightCacheUse::Unused => (),
            WeightCacheUse::Read(path) => errln!("weight cache  read {}", path.display()),
            WeightCacheUse::Made(path) => errln!("weight cache  made {}", path.display()),
        }
        let table = self.runtime.plan_table();
        let (plans, refused) = (table.rows().len(), table.unsupported());
        let megabytes = self.runtime.resident_bytes() as f64 / 1e6;
        if plans == 0 {
            errln!("plan          CPU device, {megabytes:.0} MB of weights resident");
            return;
        }
        let hash = self.runtime.plan_hash();
        errln!(
            "plan          {hash:016x}: {} of {plans} plans on the NPU, {megabytes:.0} MB of weights resident",
            plans - refused
        );
        if refused > 0 {
            output::note(format_args!("{}", table.only_unsupported()));
        }
    }

    /// As [`Session::open`], on top of `config`: device, precision and threads are the flags'.
    pub fn configured(path: &Path, device: &DeviceArgs, config: RuntimeConfig) -> Result<Session, CliError> {
        let model = ModelFile::open(path)?;
        let threads = device.threads();
        // The CPU's share of the work uses rayon's global pool. It can be built once; a second session keeps the first.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        let config = RuntimeConfig { device: device.kind(), threads, session_bytes: device.session_bytes(), ..config };
        let mut builder = RuntimeBuilder::new(config);
        let policy = device.precision()?;
        let mut cache = WeightCache::open(&model, &policy, &device.weight_cache())?;
        let decoder = Decoder::load_cached(&model, &mut builder, policy, &mut cache)?;
        let weights = cache.keep(&model, &builder);
        Ok(Session { model, decoder, runtime: builder.start()?, weights })
    }

    /// The model's tokenizer and template.
    pub fn text(&self) -> Result<&TextModel, CliError> {
        self.model.text.as_ref().ok_or_else(|| CliError::NoTokenizer { path: self.model.path.clone() })
    }

    /// How adapters name this model.
    pub fn base(&self) -> Result<BaseModel, CliError> {
        let name = self.model.path.display().to_string();
        Ok(BaseModel { name, fingerprint: self.model.tensors.fingerprint()? })
    }

    /// Reads an adapter trained on this model.
    pub fn adapter(&self, folder: &Path) -> Result<Adapter, CliError> {
        Ok(Adapter::load(folder, self.decoder.projections(), &self.base()?)?)
    }

    /// What an evaluation needs, beside the file.
    pub fn subject<'a>(&'a mut self, adapter: Option<&'a Adapter>) -> Subject<'a> {
        Subject { decoder: &self.decoder, runtime: &mut self.runtime, adapter }
    }
}
