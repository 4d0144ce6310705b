//! What every command does when its output cannot be written: a reader that left is no error, a full disk is one.

mod tiny_model;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tiny_model::TinyModel;

/// What a shell reports for a program that SIGPIPE ended.
const BROKEN_PIPE: i32 = 141;

const KERNEL_COMMANDS: [&[&str]; 8] = [
    &["kernel", "list"],
    &["kernel", "list", "--json"],
    &["kernel", "check"],
    &["kernel", "explain", "forward_q8", "--shape", "64x64x64"],
    &["kernel", "explain", "forward_q8", "--shape", "64x64x64", "--json"],
    &["kernel", "run", "forward_q8", "--shape", "64x64x64"],
    &["kernel", "diff", "forward_q8", "--shape", "64x64x64", "--other-tiles", "mc=32"],
    &["plan", "--preset", "Qwen3.5-0.8B"],
];

/// Every command that prints, with what it needs in `folder`.
fn commands(folder: &Path) -> Vec<Vec<String>> {
    let path = |name: &str| folder.join(name).display().to_string();
    let rows = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]}"#;
    fs::write(folder.join("data.jsonl"), rows).unwrap();
    let (model, data) = (TinyModel::new(1).write(&folder.join("model")).display().to_string(), path("data.jsonl"));
    let with_model = |command: &str, more: &[&str]| {
        let mut words = vec![command, "--model", &model, "--data", &data, "--device", "cpu"];
        words.extend(more);
        words.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut all: Vec<Vec<String>> =
        KERNEL_COMMANDS.iter().map(|words| words.iter().map(|&word| word.to_owned()).collect()).collect();
    all.push(["kernel", "emit", "--arch", "v79", "--out", &path("c")].map(str::to_owned).to_vec());
    all.push(["kernel", "new", "fused", "--out", &path("fused")].map(str::to_owned).to_vec());
    all.push(with_model("train", &["--steps", "2", "--out", &path("run")]));
    all.push(with_model("eval", &[]));
    all.extend([vec!["--help".to_owned()], ["kernel", "run", "--help"].map(str::to_owned).to_vec()]);
    all.push(vec!["--version".to_owned()]);
    all
}

/// Removes what a command wrote, so that it can run again.
fn clean(folder: &Path) {
    for name in ["c", "fused", "run"] {
        let _ = fs::remove_dir_all(folder.join(name));
    }
}

fn run(words: &[String], stdout: Stdio, stderr: Stdio) -> Output {
    let child = Command::new(env!("CARGO_BIN_EXE_permafrost")).args(words).stdout(stdout).stderr(stderr).spawn();
    child.unwrap().wait_with_output().unwrap()
}

/// The end of a pipe nobody reads.
fn unread() -> Stdio {
    std::io::pipe().unwrap().1.into()
}

#[test]
fn a_reader_that_left_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    for words in commands(folder.path()) {
        clean(folder.path());
        let output = run(&words, unread(), Stdio::piped());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(BROKEN_PIPE), "{words:?}: {said}");
        assert!(!said.contains("panicked") && !said.contains("Broken pipe"), "{words:?}: {said}");
    }
    // The work itself was done.
    clean(folder.path());
    let train = commands(folder.path()).into_iter().find(|words| words[0] == "train").unwrap();
    run(&train, unread(), Stdio::null());
    assert!(folder.path().join("run/adapter/adapter_model.safetensors").is_file());
}

#[test]
fn a_full_disk_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for words in commands(folder.path()) {
        clean(folder.path());
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = run(&words, full.into(), Stdio::piped());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains("standard output") && said.contains("No space left"), "{words:?}: {said}");
    }
}

#[test]
fn nobody_reading_the_progress_does_not_stop_the_work() {
    let folder = tempfile::tempdir().unwrap();
    for words in commands(folder.path()) {
        clean(folder.path());
        let output = run(&words, Stdio::piped(), unread());
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
    // An error nobody can read is still an error.
    let words = ["kernel", "explain", "nothing", "--shape", "1x1x1"].map(str::to_owned);
    assert_eq!(run(&words, Stdio::piped(), unread()).status.code(), Some(1));
}
