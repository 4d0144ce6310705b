//! Runs of the `permafrost` program on a model of random weights, and what they said.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;
use trainer::nodes::mix;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A synthetic model with data to train it on.
pub struct Training {
    program: PathBuf,
    folder: PathBuf,
    runs: usize,
}

/// What one run left behind.
pub struct Trained {
    /// Bytes of the adapter's weights.
    pub adapter: Vec<u8>,
    /// Wall seconds of every optimizer step.
    pub seconds: Vec<f64>,
    /// All it printed.
    said: String,
}

impl Training {
    /// Writes `layers` layers of a preset to `folder`, and `rows` rows of `tokens` random tokens.
    ///
    /// # Errors
    /// No program beside this one, or one that fails.
    pub fn new(folder: &Path, preset: &str, layers: usize, rows: usize, tokens: usize) -> Outcome<Training> {
        let program = env::current_exe()?.with_file_name(format!("permafrost{}", env::consts::EXE_SUFFIX));
        if !program.is_file() {
            return Err(format!("{} is missing: cargo build --release -p trainer", program.display()).into());
        }
        let training = Training { program, folder: folder.to_owned(), runs: 0 };
        let (model, layers) = (training.model().display().to_string(), layers.to_string());
        training.run(&["synth", "--preset", preset, "--layers", &layers, "--out", &model])?;
        let vocabulary = trainer::model_file::read_config(&training.model())?.vocab as u64;
        let row = |row: usize| {
            let ids: Vec<u64> = (0..tokens).map(|token| mix((row * tokens + token) as u64) % vocabulary).collect();
            serde_json::json!({ "input_ids": ids, "labels": ids }).to_string() + "\n"
        };
        fs::write(training.data(), (0..rows).map(row).collect::<String>())?;
        Ok(training)
    }

    /// Folder of the model.
    pub fn model(&self) -> PathBuf {
        self.folder.join("model")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data.jsonl")
    }

    /// Trains `steps` steps of one row each, with more flags.
    ///
    /// # Errors
    /// A run that fails, or leaves something out.
    pub fn train(&mut self, steps: usize, flags: &[&str]) -> Outcome<Trained> {
        self.runs += 1;
        let out = self.folder.join(format!("run-{}", self.runs));
        let path = |path: &Path| path.display().to_string();
        let (model, data, to, count) = (path(&self.model()), path(&self.data()), path(&out), steps.to_string());
        let fixed = ["train", "--model", &model, "--data", &data, "--out", &to, "--steps", &count];
        let said = self.run(&[&fixed[..], &["--batch-rows", "1", "--no-shuffle"], flags].concat())?;
        let mut seconds = Vec::new();
        for line in fs::read_to_string(out.join("metrics.jsonl"))?.lines() {
            let step: Value = serde_json::from_str(line)?;
            seconds.push(step["seconds"].as_f64().ok_or("a step without seconds")?);
        }
        let adapter = fs::read(out.join("adapter/adapter_model.safetensors"))?;
        fs::remove_dir_all(out)?;
        Ok(Trained { adapter, seconds, said })
    }

    fn run(&self, arguments: &[&str]) -> Outcome<String> {
        let output = Command::new(&self.program).args(arguments).output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if !output.status.success() {
            return Err(format!("permafrost {}: {}", arguments.join(" "), text(&output.stderr)).into());
        }
        Ok(text(&output.stdout) + &text(&output.stderr))
    }
}

impl Trained {
    /// Whether the program printed these words.
    pub fn says(&self, words: &str) -> bool {
        self.said.contains(words)
    }

    /// The numbers of the line that starts with `label`.
    ///
    /// # Errors
    /// No such line.
    pub fn numbers(&self, label: &str) -> Outcome<Vec<f64>> {
        let line = self.said.lines().rev().find(|line| line.starts_with(label));
        let line = line.ok_or_else(|| format!("no line `{label}` in\n{}", self.said))?;
        Ok(line.split([' ', ',', '(', '/']).filter_map(|word| word.parse().ok()).collect())
    }

    /// Share of the steps in which the NPU computed, from 0 to 1.
    ///
    /// # Errors
    /// No step said so.
    pub fn npu_share(&self) -> Outcome<f64> {
        let share = self.said.rsplit_once(" NPU ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok());
        Ok(share.ok_or_else(|| format!("no share of the NPU in\n{}", self.said))? / 100.0)
    }
}
