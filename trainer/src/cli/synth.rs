//! `permafrost synth`

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};

use super::error::CliError;
use super::limits::{bytes, positive, seed};
use super::model_shape::ModelShape;
use super::progress::Progress;
use crate::synth::{self, DEFAULT_SHARD_BYTES, FloatType, Synth};

/// Flags of `permafrost synth`.
#[derive(Args, Debug)]
pub(super) struct SynthArgs {
    #[command(flatten)]
    shape: ModelShape,
    /// Make the first so many layers only; which are recurrent stays as in the model.
    #[arg(long, value_parser = positive)]
    layers: Option<usize>,
    /// Folder to write; new or empty.
    #[arg(long)]
    out: PathBuf,
    /// Key of every value: the same seed gives the same bytes.
    #[arg(long, default_value_t = 0, allow_hyphen_values = true, value_parser = seed)]
    seed: u64,
    /// What the weights are stored as.
    #[arg(long, value_enum, default_value_t = Float::Bf16)]
    dtype: Float,
    /// Add a tokenizer; without one, data rows are token ids with labels.
    #[arg(long, value_enum)]
    tokenizer: Option<Tokenizer>,
    /// Most bytes of a weight file, as a size such as 500MB [default: 4GB].
    #[arg(long, value_parser = bytes)]
    shard_bytes: Option<ByteSize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Float {
    F32,
    F16,
    Bf16,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Tokenizer {
    /// Every byte a token, and a chat template.
    Tiny,
}

impl SynthArgs {
    /// Writes the folder, then says what is in it.
    pub fn run(self) -> Result<(), CliError> {
        let (name, config) = self.shape.read()?;
        let synth = Synth {
            config,
            layers: self.layers,
            seed: self.seed,
            float: match self.dtype {
                Float::F32 => FloatType::F32,
                Float::F16 => FloatType::F16,
                Float::Bf16 => FloatType::Bf16,
            },
            tokenizer: self.tokenizer.is_some(),
            shard_bytes: self.shard_bytes.map_or(DEFAULT_SHARD_BYTES, |size| size.as_u64()),
        };
        let mut progress = None;
        let made = synth::write(&self.out, &synth, &mut |done, total| {
            let megabytes = |bytes: u64| (bytes / 1_000_000) as usize;
            let line = progress.get_or_insert_with(|| Progress::start("writing", megabytes(total), "MB"));
            line.at(megabytes(done), "");
        })?;
        drop(progress);
        outln!("model         {name}, {} layers, random weights of seed {}", made.layers, self.seed);
        outln!("parameters    {}", made.parameters);
        outln!("weights       {} bytes", made.bytes);
        outln!("weight files  {}", made.files);
        outln!("folder        {}", self.out.display());
        Ok(())
    }
}
