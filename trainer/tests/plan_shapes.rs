//! `permafrost plan` from shapes, and `permafrost synth` with a run on what it wrote.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn permafrost(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_permafrost")).args(arguments).output().unwrap()
}

fn succeeds(arguments: &[&str]) -> String {
    let output = permafrost(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn fails(arguments: &[&str]) -> String {
    let output = permafrost(arguments);
    assert!(!output.status.success(), "{arguments:?} passed");
    // The report breaks lines at the width of a terminal.
    let text = String::from_utf8(output.stderr).unwrap();
    text.split(|c: char| c.is_whitespace() || c == '│').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn small_llama(folder: &Path) -> String {
    let config = json!({
        "model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 272, "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0, "max_position_embeddings": 512, "tie_word_embeddings": true,
    });
    let path = folder.join("small.json");
    fs::write(&path, config.to_string()).unwrap();
    path.display().to_string()
}

#[test]
fn a_preset_is_planned_without_a_file() {
    let text = succeeds(&["plan", "--preset", "QWEN3.5-4b", "--tokens", "3431", "--arch", "v79"]);
    for said in [
        "248 projections, 3,569,090,560 parameters",
        "resident 4.74 GB = 2.02 GB FP16 + 2.72 GB Q8 (4,739,563,520 B); all FP16 7.14 GB",
        "NPU sessions: 2 of up to 3.00 GB",
        "no phone has run these kernels",
        "32,464,896 parameters",
        "24 recurrent layers",
        "Predicted peak memory",
    ] {
        assert!(text.contains(said), "no `{said}` in\n{text}");
    }
    let report = succeeds(&["plan", "--preset", "qwen3.5-9b", "--tokens", "64", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        (&report["resident"]["projections"], &report["resident"]["bytes"]),
        (&json!(248), &json!(8_866_758_656u64))
    );
    assert_eq!(report["sessions"]["sessions"].as_array().unwrap().len(), 3);
    assert!(report["npu"]["total"]["in_order"].as_f64().unwrap() > 0.0);
}

#[test]
fn flags_change_the_plan_and_wrong_ones_say_so() {
    let plan = |more: &[&str]| -> Value {
        let shape = ["plan", "--preset", "llama-3.2-1b", "--tokens", "128", "--json"];
        serde_json::from_str(&succeeds(&[&shape[..], more].concat())).unwrap()
    };
    assert_eq!(plan(&["--precision", "f16"])["resident"]["q8_bytes"], json!(0));
    assert_eq!(plan(&["--precision", "mlp=f16"])["resident"]["f16_bytes"], json!(2 * 3 * 16 * 2048 * 8192));
    assert_eq!(plan(&["--session-bytes", "600MB"])["sessions"]["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(plan(&["--activation-bytes", "store"])["activations"]["recomputed"], json!([]));
    assert_eq!(plan(&["--rank", "8"])["adapters"]["parameters"], json!(11_272_192 / 2));
    assert!(fails(&["plan", "--preset", "gpt-2"]).contains("Qwen3.5-0.8B"));
    assert!(fails(&["plan"]).contains("--preset"));
    assert!(fails(&["plan", "--preset", "llama-3.2-1b", "--activation-bytes", "1MB"]).contains("at least"));
    assert!(fails(&["plan", "--preset", "llama-3.2-1b", "--activation-bytes", "lots"]).contains("8GB"));
    assert!(fails(&["plan", "--preset", "llama-3.2-1b", "--precision", "mlp=q4"]).contains("recurrent=f16"));
    assert!(fails(&["plan", "--preset", "llama-3.2-1b", "--tokens", "200000"]).contains("131072 positions"));
}

#[test]
fn a_made_model_is_planned_trained_and_evaluated_on_token_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let config = small_llama(folder.path());
    let said = succeeds(&["plan", "--config", &config, "--tokens", "16"]);
    assert!(said.contains("21 projections"), "{said}");
    let model = path("model");
    let said = succeeds(&["synth", "--config", &config, "--layers", "2", "--out", &model, "--seed", "3"]);
    assert!(said.contains("2 layers") && said.contains("weight files  1"), "{said}");
    assert!(fails(&["synth", "--config", &config, "--out", &model]).contains("not empty"));

    fs::write(path("data.jsonl"), "{\"input_ids\": [1, 2, 3, 4], \"labels\": [-100, -100, 3, 4]}\n").unwrap();
    let data = ["--model", &model, "--data", &path("data.jsonl")];
    let timeline = path("timeline.json");
    let train = ["train", "--steps", "3", "--out", &path("run"), "--timeline", &timeline];
    let said = succeeds(&[&train[..], &data].concat());
    assert!(said.contains("steps         3") && said.contains("timeline.json"), "{said}");
    let trace: Value = serde_json::from_str(&fs::read_to_string(&timeline).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |kind: &str| events.iter().filter(|event| event["cat"] == kind).count();
    // Two steps of two layers with seven projections, all forward; layer 0 needs no input gradient of q, k and v.
    assert_eq!((of("forward"), of("input gradient")), (2 * 14, 2 * 11));
    assert!(of("CPU beside a request") > 0 && of("phase") == 6, "{}", of("phase"));
    let said = succeeds(&[&["eval", "--adapter", &path("run/adapter")], &data[..]].concat());
    assert!(said.contains("targets       2"), "{said}");
}
