//! `permafrost eval`

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::counters::print_counters;
use super::device::DeviceArgs;
use super::error::CliError;
use super::progress::Progress;
use super::session::Session;
use crate::data::load_jsonl;
use crate::demo::{self, TagTask, TaggedApp};
use crate::eval::{Subject, data_loss};

/// Flags of `permafrost eval`.
#[derive(Args, Debug)]
pub(super) struct EvalArgs {
    /// The base model: a .gguf file or a Hugging Face folder.
    #[arg(long)]
    model: PathBuf,
    /// A PEFT adapter folder trained on this model.
    #[arg(long)]
    adapter: Option<PathBuf>,
    /// JSONL rows: `messages`, `prompt` + `completion`, `input_ids` + `labels`, or tag data (`id`, `title`, `text`, `tag`).
    #[arg(long)]
    data: PathBuf,
    /// Longest row, in tokens.
    #[arg(long, default_value_t = 2048)]
    max_tokens: usize,
    #[command(flatten)]
    device: DeviceArgs,
}

impl EvalArgs {
    /// Prints loss (nats a target), number of targets, share of targets that are the likeliest token; for tag data also
    /// the accuracy and macro-F1 of the likeliest tag.
    pub fn run(self) -> Result<(), CliError> {
        let mut session = Session::open(&self.model, &self.device)?;
        session.announce();
        let adapter = self.adapter.as_deref().map(|path| session.adapter(path)).transpose()?;
        let task = match tag_rows(&self.data)? {
            Some(apps) => Some(TagTask::new(session.text()?, &apps, &tag_choice(&apps)?)?),
            None => None,
        };
        let samples = match &task {
            Some(task) => task.gold_samples(),
            None => {
                let text = session.model.text.as_ref();
                load_jsonl(&self.data, text, session.model.config.vocab, self.max_tokens)?.samples
            }
        };
        let mut subject = session.subject(adapter.as_ref());
        let mut progress = Progress::start("loss", samples.len(), "rows");
        let loss = data_loss(&mut subject, &samples, &mut |done| progress.at(done, ""))?;
        drop(progress);
        if loss.targets == 0 {
            return Err(CliError::NoTargets { path: self.data });
        }
        outln!("loss          {:.6}", loss.loss());
        outln!("targets       {}", loss.targets);
        outln!("accuracy      {:.4}", loss.accuracy());
        if let Some(task) = task {
            print_tags(&task, &mut subject)?;
        }
        print_counters(&session.runtime, self.device.session_bytes());
        Ok(())
    }
}

fn print_tags(task: &TagTask, subject: &mut Subject<'_>) -> Result<(), CliError> {
    let mut progress = Progress::start("tags", task.len(), "rows");
    let agreement = task.measure(subject, &mut |done| progress.at(done, ""))?;
    drop(progress);
    outln!("tag accuracy  {:.4}", agreement.accuracy);
    outln!("macro-F1      {:.4}", agreement.macro_f1);
    Ok(())
}

/// The rows of a file of tag data; nothing when its first row has another form.
fn tag_rows(path: &Path) -> Result<Option<Vec<TaggedApp>>, CliError> {
    let text = fs::read_to_string(path).map_err(|source| CliError::Io { path: path.to_owned(), source })?;
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if serde_json::from_str::<TaggedApp>(first).is_err() {
        return Ok(None);
    }
    let apps = demo::parse(&text).map_err(|source| CliError::TagData { path: path.to_owned(), source })?;
    Ok(Some(apps))
}

/// The tags to choose from: those of the bundled set where they contain the file's, so that a part of the set asks the
/// same questions as the whole; otherwise those that occur in the file.
fn tag_choice(apps: &[TaggedApp]) -> Result<Vec<String>, CliError> {
    let (bundled, own) = (demo::tags(&demo::train()?), demo::tags(apps));
    Ok(if own.iter().all(|tag| bundled.contains(tag)) { bundled } else { own })
}
