//! `permafrost kernel …` as a kernel author types it.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output};

use kernel_gen::ir::OperandLayout;
use serde_json::Value;

fn permafrost(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_permafrost")).arg("kernel").args(arguments).output().unwrap()
}

fn succeeds(arguments: &[&str]) -> String {
    let output = permafrost(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let text = succeeds(&[arguments, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{text}"))
}

fn fails(arguments: &[&str]) -> String {
    let output = permafrost(arguments);
    assert!(!output.status.success(), "{arguments:?} passed");
    // The report breaks lines at the width of a terminal.
    let text = String::from_utf8(output.stderr).unwrap();
    text.split(|c: char| c.is_whitespace() || c == '│').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn list_and_check_know_every_library_kernel() {
    let listed = json(&["list"]);
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|kernel| kernel["name"].as_str().unwrap()).collect();
    for kernel in kernel_gen::library::all().into_iter().chain(kernel_gen::library::extra()) {
        assert!(names.contains(&kernel.name.as_str()), "{names:?}");
        assert!(succeeds(&["list"]).contains(&kernel.name));
    }
    let checked = json(&["check"]);
    assert_eq!(checked["plans"].as_array().unwrap().len(), 6 * names.len());
    assert!(succeeds(&["check"]).contains("break no rule"));
}

#[test]
fn explain_gives_positions_map_counts_and_bound() {
    let arguments = ["explain", "input_grad_q8", "--shape", "3431x2560x9728", "--arch", "v79"];
    let text = succeeds(&arguments);
    for part in
        ["input_grad_q8.rs:", "in step", "Counts (exact)", "Prediction, not a measurement", "Bound by", "inferred"]
    {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let value = json(&arguments);
    let bound = value["prediction"]["bound"].as_str().unwrap();
    assert!(text.contains(&format!("Bound by {bound}")));
    // Every weight tile is multiplied with every token tile once.
    let tiles = 3431u64.div_ceil(32) * 2560 / 32 * 9728 / 32;
    assert_eq!(value["cost"]["total"]["tiles"].as_u64(), Some(tiles));

    let folder = tempfile::tempdir().unwrap();
    let svg = folder.path().join("map.svg");
    succeeds(&[&arguments[..], &["--svg", svg.to_str().unwrap()]].concat());
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("dequantise wa"));
    // Every window has its size, the narrow one too.
    for label in ["dyb 5760K", "wq 2×450K", "wa 800K", "dxc 360K"] {
        assert!(svg.contains(&format!(">{label}</text>")), "{label}: {svg}");
    }
}

#[test]
fn run_compares_with_the_reference_on_both_models() {
    for kernel in kernel_gen::library::all().into_iter().chain(kernel_gen::library::extra()) {
        // Tails everywhere, but for the columns of an operand in blocks.
        let blocks = kernel.operands.iter().any(|o| matches!(o.layout, OperandLayout::Blocks(_)));
        let shape = if blocks { "70x100x160" } else { "70x100x130" };
        let arguments = ["run", kernel.name.as_str(), "--shape", shape, "--seed", "3", "--tiles", "mc=32,nc=32,kc=64"];
        let fast = json(&arguments);
        let checked = json(&[&arguments[..], &["--checked"]].concat());
        assert_eq!(fast["outside"], 0);
        assert!(fast["compared"].as_u64().unwrap() >= 70 * 100);
        assert_eq!((&fast["histogram"], &fast["largest_error"]), (&checked["histogram"], &checked["largest_error"]));
    }
    let text = succeeds(&["run", "forward_q8", "--shape", "70x100x130"]);
    assert!(text.contains("error in parts of the tolerance"), "{text}");
}

#[test]
fn explain_writes_steps_as_the_source_has_them() {
    let text = succeeds(&["explain", "input_grad_q8", "--shape", "64x64x64"]);
    for step in ["multiply dxc <- swap(dyb, wa)", " dx[m, k] += dxc unscale(row)"] {
        assert!(text.contains(step), "no `{step}` in {text}");
    }
    assert!(succeeds(&["explain", "forward_q8", "--shape", "64x64x64"]).contains("multiply yc <- xa * wb"));
}

#[test]
fn diff_shows_plans_counts_and_c() {
    let shape = ["--shape", "512x640x640"];
    let tiles = succeeds(&[&["diff", "forward_q8"], &shape[..], &["--other-tiles", "mc=32"]].concat());
    assert!(tiles.contains("The emitted C is the same") && tiles.contains("mc=32") && tiles.contains('%'), "{tiles}");
    let kernels = json(&[&["diff", "forward_f16", "forward_q8"], &shape[..]].concat());
    assert!(
        kernels["c"].as_str().unwrap().contains("+    pf_dequantise_q8")
            || kernels["c"].as_str().unwrap().contains("pf_dequantise_q8")
    );
}

#[test]
fn emitted_folder_compiles_as_it_says() {
    let folder = tempfile::tempdir().unwrap();
    for kernel in [None, Some("forward_q8"), Some("input_grad_f16")] {
        let out = folder.path().join(kernel.unwrap_or("all"));
        let words = ["emit", "--arch", "v79", "--out", out.to_str().unwrap()];
        succeeds(&kernel.into_iter().fold(words.to_vec(), |mut words, name| {
            words.push(name);
            words
        }));
        let build = std::fs::read_to_string(out.join("BUILD.md")).unwrap();
        assert!(build.contains("-mv79"), "{build}");
        let stated = build.split("```").find(|part| part.trim_start().starts_with("gcc ")).unwrap();
        let gcc = Command::new("sh").args(["-ec", stated]).current_dir(&out).output().unwrap();
        let said = String::from_utf8_lossy(&gcc.stderr);
        assert!(gcc.status.success() && said.is_empty(), "{stated}: {said}");
        assert!(out.join(kernel.unwrap_or("permafrost_kernels")).with_extension("o").is_file());
    }
}

#[test]
fn emit_overwrites_nothing_that_differs_unless_forced() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("c");
    let emit = ["emit", "forward_q8", "--arch", "v79", "--out", out.to_str().unwrap()];
    succeeds(&emit);
    // What is there is what would be written.
    succeeds(&emit);
    for file in ["forward_q8.c", "BUILD.md", "device/device.h"] {
        let path = out.join(file);
        let emitted = std::fs::read_to_string(&path).unwrap();
        let edited = format!("{emitted}/* mine */\n");
        std::fs::write(&path, &edited).unwrap();
        // Another file is missing, and stays so: nothing is written.
        std::fs::remove_file(out.join("device/abi.h")).unwrap();
        let said = fails(&emit);
        // The report breaks a long path where it likes.
        let joined = said.replace(' ', "");
        assert!(joined.contains(&format!("{}isthere", path.display())) && said.contains("--force"), "{said}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), edited);
        assert!(!out.join("device/abi.h").exists());
        succeeds(&[&emit[..], &["--force"]].concat());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), emitted);
        assert!(out.join("device/abi.h").is_file());
    }
}

#[test]
fn emit_takes_the_device_library_from_the_sources_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("c");
    let nowhere = folder.path().to_str().unwrap();
    let emit = ["emit", "forward_q8", "--arch", "v79", "--out", out.to_str().unwrap(), "--permafrost"];
    assert!(fails(&[&emit[..], &[nowhere]].concat()).contains("holds no Permafrost sources"));
    assert!(!out.exists());
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    succeeds(&[&emit[..], &[sources.to_str().unwrap()]].concat());
    for from in kernel_gen::device_files().unwrap() {
        let to = out.join("device").join(from.file_name().unwrap());
        assert_eq!(std::fs::read(&from).unwrap(), std::fs::read(to).unwrap(), "{}", from.display());
    }
}

#[test]
fn new_writes_a_crate_and_refuses_what_would_not_build() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("fused");
    succeeds(&["new", "fused", "--out", out.to_str().unwrap()]);
    let read = |file: &str| std::fs::read_to_string(out.join(file)).unwrap();
    assert!(read("src/lib.rs").contains("pub kernel fused {"));
    assert!(read("tests/cross_check.rs").contains("verify::assert_kernel(&fused())"));
    let manifest = read("Cargo.toml");
    let path = manifest.lines().find_map(|line| line.strip_prefix("kernel-gen = { path = \"")).unwrap();
    assert!(Path::new(path.split('"').next().unwrap()).join("Cargo.toml").is_file(), "{manifest}");

    assert!(fails(&["new", "fused", "--out", out.to_str().unwrap()]).contains("is there already"));
    let other = folder.path().join("other");
    for name in ["Fused", "9fused", "fn", "a-b", ""] {
        assert!(fails(&["new", name, "--out", other.to_str().unwrap()]).contains("cannot name a kernel"), "{name}");
    }
    let (longest, too_long) = ("a".repeat(64), "a".repeat(65));
    assert!(fails(&["new", &too_long, "--out", other.to_str().unwrap()]).contains("65 letters; take at most 64"));
    assert!(!other.exists());
    succeeds(&["new", &longest, "--out", folder.path().join("longest").to_str().unwrap()]);
    let nowhere = ["new", "a", "--out", other.to_str().unwrap(), "--permafrost", folder.path().to_str().unwrap()];
    assert!(fails(&nowhere).contains("holds no Permafrost sources"));
    assert!(!other.exists());
}

#[test]
fn mistakes_are_answered_with_what_to_do() {
    assert!(fails(&["explain", "forward", "--shape", "1x1x1"]).contains("take one of forward_f16"));
    assert!(succeeds(&["explain", "forward_q8_blocks", "--shape", "33x64x96"]).contains("load wq <- w"));
    assert!(fails(&["explain", "forward_q8_blocks", "--shape", "33x64x95"]).contains("multiple of 32"));
    assert!(fails(&["explain", "forward_q8", "--shape", "12"]).contains("3 axes"));
    assert!(fails(&["explain", "forward_q8", "--shape", "ax2"]).contains("512x2560x9728"));
    assert!(fails(&["explain", "forward_q8", "--shape", "0x2x2"]).contains("must lie in 1..="));
    let shape = ["explain", "forward_q8", "--shape", "64x64x64", "--tiles"];
    assert!(fails(&[&shape[..], &["mc"]].concat()).contains("NAME=VALUE"));
    assert!(fails(&[&shape[..], &["qc=32"]].concat()).contains("no tunable `qc`"));
    assert!(fails(&[&shape[..], &["mc=33"]].concat()).contains("a multiple of 32"));
    assert!(fails(&["explain", "forward_q8", "--shape", "64x64x64", "--vtcm", "4096"]).contains("grants 4096 B"));
}

#[test]
fn build_without_an_sdk_says_what_to_set_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = Command::new(env!("CARGO_BIN_EXE_permafrost"))
        .args(["kernel", "build", "--arch", "v79", "--toolchain", "sdk", "--out"])
        .arg(&out)
        .env_remove("HEXAGON_SDK_ROOT")
        .env("HEXAGON_TOOLS_ROOT", folder.path())
        .output()
        .unwrap();
    assert!(!output.status.success() && !out.exists());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("HEXAGON_SDK_ROOT") && text.contains("--toolchain llvm"), "{text}");
}

#[test]
fn build_without_clang_says_what_to_install() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_permafrost"))
        .args(["kernel", "build", "--arch", "v81", "--out"])
        .arg(folder.path().join("out"))
        .env("PATH", folder.path())
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("clang-22"));
}

#[test]
fn build_prints_instructions_and_open_symbols() {
    let runs = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    if !["clang-22", "ld.lld-22", "llvm-objdump-22", "llvm-nm-22"].into_iter().all(runs) {
        let required = ["CI", "PERMAFROST_REQUIRE_CLANG"].iter().any(|name| std::env::var_os(name).is_some());
        assert!(!required, "clang-22, lld-22 or llvm-22 is not installed: run tools/set-up");
        // Not eprintln!, which the test harness hides.
        let mut visible = io::stderr();
        writeln!(visible, "skipped: clang-22, lld-22 or llvm-22 is not installed: run tools/set-up").unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments = ["build", "--arch", "v79", "--out", out.to_str().unwrap(), "forward_q8"];
    let built = json(&arguments);
    assert!(Path::new(built["library"].as_str().unwrap()).is_file());
    assert_eq!(built["instructions"]["hvx_ieee_float"], 0);
    assert_eq!(built["instructions"]["unknown"], 0);
    assert!(built["instructions"]["hmx"].as_u64().unwrap() > 3);
    let open = built["undefined"].as_array().unwrap();
    assert!(open.iter().any(|name| name == "HAP_power_set"), "{open:?}");
    let text = succeeds(&arguments);
    assert!(text.contains("hvx qfloat") && text.contains("qurt_thread_create"), "{text}");
}
