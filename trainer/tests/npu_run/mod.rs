//! Runs of `permafrost train` on the functional model of the NPU, with a tiny model in a folder of their own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::tiny_model::TinyModel;

const ROW: &str = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]}"#;

/// A folder with a model and a row to train on.
pub struct NpuRun {
    folder: TempDir,
}

/// What a run left and said.
#[derive(Debug)]
pub struct Trained {
    /// Bytes of the adapter.
    pub adapter: Vec<u8>,
    /// The loss of every step as it was written.
    pub losses: Vec<String>,
    #[allow(dead_code, reason = "each test reads one of the two")]
    pub stdout: String,
    #[allow(dead_code, reason = "each test reads one of the two")]
    pub stderr: String,
}

impl NpuRun {
    pub fn new() -> NpuRun {
        let folder = tempfile::tempdir().unwrap();
        TinyModel::new(1).write(&folder.path().join("model"));
        fs::write(folder.path().join("data.jsonl"), format!("{ROW}\n")).unwrap();
        NpuRun { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Trains two steps in Q8 with more flags; the user's cache folder is one of this run.
    pub fn train(&self, more: &[&str]) -> Trained {
        self.train_by(Command::new(env!("CARGO_BIN_EXE_permafrost")), more)
    }

    /// As [`NpuRun::train`], by a command that takes the arguments of `permafrost`.
    pub fn train_by(&self, mut command: Command, more: &[&str]) -> Trained {
        let path = |name: &str| self.path(name).display().to_string();
        command.args(["train", "--model", &path("model"), "--data", &path("data.jsonl"), "--out", &path("run")]);
        command.args(["--epochs", "2", "--precision", "q8", "--threads", "1", "--rank", "2"]).args(more);
        let output = command.env("XDG_CACHE_HOME", self.path("user")).output().unwrap();
        let [stdout, stderr] = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
        assert!(output.status.success(), "{stderr}");
        let metrics = fs::read_to_string(self.path("run/metrics.jsonl")).unwrap();
        let loss = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["loss"].to_string();
        let trained = Trained {
            adapter: fs::read(self.path("run/adapter/adapter_model.safetensors")).unwrap(),
            losses: metrics.lines().map(loss).collect(),
            stdout,
            stderr,
        };
        fs::remove_dir_all(self.path("run")).unwrap();
        trained
    }
}

impl Trained {
    /// Asserts equal bits of losses and adapter.
    #[track_caller]
    pub fn assert_bits_of(&self, other: &Trained) {
        assert_eq!(self.losses, other.losses);
        assert_eq!(self.losses.len(), 2);
        assert!(self.adapter == other.adapter, "the adapters differ");
    }
}
