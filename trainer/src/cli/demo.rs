//! `permafrost demo`

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use super::device::DeviceArgs;
use super::error::CliError;
use super::interrupt;
use super::progress::Progress;
use super::session::Session;
use crate::adapter::{Adapter, AdapterOptions};
use crate::data::load_jsonl;
use crate::demo::{self, Measured, PeakMemory, Summary, TagTask};
use crate::eval::Agreement;
use crate::optimizer::{AdamWOptions, Schedule};
use crate::train::{self, DEFAULT_MICRO_TOKENS, TrainOptions};

/// Rows of the test split that are measured unless all are asked for.
const MEASURED_ROWS: usize = 120;
/// Longest training row; the longest of the bundled set has fewer than 250 tokens.
const MAX_TOKENS: usize = 512;

/// Flags of `permafrost demo`.
#[derive(Args, Debug)]
pub(super) struct DemoArgs {
    /// Use this chat model instead of fetching SmolLM2-135M-Instruct: a .gguf file or a Hugging Face folder.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Measure all 225 rows of the test split, not the first 120.
    #[arg(long)]
    full: bool,
    /// Rows to train on, drawn from the 1168 of the training split.
    #[arg(long, default_value_t = 320, value_parser = clap::value_parser!(u16).range(1..))]
    rows: u16,
    /// Folder of the run: train.jsonl, metrics.jsonl and adapter/.
    #[arg(long, default_value = "runs/demo")]
    out: PathBuf,
    /// Seed of the rows and of the start of the adapter.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Rows of a batch go through the model together up to this many tokens; fewer need less memory.
    #[arg(long, default_value_t = DEFAULT_MICRO_TOKENS)]
    micro_tokens: usize,
    #[command(flatten)]
    device: DeviceArgs,
}
