//! Ctrl-C and SIGTERM end a run after the step in flight, with the adapter saved.

mod tiny_model;

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tiny_model::TinyModel;

#[test]
fn ctrl_c_saves_and_says_how_far_it_got() {
    stopped_by("INT", "Ctrl-C", 130);
}

#[test]
fn sigterm_is_no_different() {
    stopped_by("TERM", "SIGTERM", 143);
}

/// Sends a signal to a run, and looks for its code, its words and the saved adapter.
fn stopped_by(signal: &str, words: &str, code: i32) {
    let folder = tempfile::tempdir().unwrap();
    let model = TinyModel::new(1).write(&folder.path().join("model"));
    let (data, run) = (folder.path().join("data.jsonl"), folder.path().join("run"));
    fs::write(&data, "{\"input_ids\": [1, 2, 3, 4], \"labels\": [-100, -100, 3, 4]}\n").unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_permafrost"))
        .args(["train", "--device", "cpu", "--steps", "1000000", "--lr", "1e-6", "--model"])
        .arg(model)
        .arg("--data")
        .arg(data)
        .arg("--out")
        .arg(&run)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let steps = || fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default().lines().count();
    let patience = Instant::now() + Duration::from_secs(60);
    while steps() < 3 {
        assert!(Instant::now() < patience, "no step in a minute");
        sleep(Duration::from_millis(20));
    }
    // The shell's own kill: a minimal Debian has no /bin/kill.
    let kill = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{:?}", output.status);
    let said = String::from_utf8(output.stdout).unwrap();
    let done = steps();
    assert!(said.contains(&format!("stopped by {words} after step {done} of 1000000")), "{said}");
    assert!(run.join("adapter/adapter_model.safetensors").is_file());
}
