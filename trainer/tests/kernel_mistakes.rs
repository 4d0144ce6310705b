//! What `permafrost kernel …` answers to input that cannot be meant.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn permafrost(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_permafrost")).arg("kernel").args(arguments).output().unwrap()
}

/// What a refused command says. It ends by itself and prints nothing a reader could take for a result.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = permafrost(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {} {text}", output.status);
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    text.split(|c: char| c.is_whitespace() || c == '│').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn says(arguments: &[&str], words: &[&str]) {
    let text = refused(arguments);
    for word in words {
        assert!(text.contains(word), "{arguments:?}: {word:?} is not in: {text}");
    }
}

const SHAPE: [&str; 2] = ["--shape", "64x64x64"];

#[test]
fn a_shape_is_whole_numbers_in_digits() {
    let shape = |text: &str, words: &[&str]| says(&["explain", "forward_q8", "--shape", text], words);
    shape("ax2", &["is no shape", "512x2560x9728"]);
    shape("-1x64x64", &["-1x64x64", "is no shape", "512x2560x9728"]);
    for sign in ["64x+64x64", "64x-64x64", "0064x64x64", "64x64x00", "64x64x", "64x6_4x64", "64x6.4x64", "٣x64x64"] {
        shape(sign, &[sign, "digits only"]);
    }
    shape("99999999999x64x64", &["99999999999", "too large", "16777216"]);
    shape("64x64x99999999999999999999999999999999", &["too large"]);
    shape("0x2x2", &["must lie in 1..="]);
}

#[test]
fn tile_sizes_are_given_once_and_in_digits() {
    let tiles = |flags: &[&str], words: &[&str]| {
        says(&[&["explain", "forward_q8"], &SHAPE[..], flags].concat(), words);
    };
    tiles(&["--tiles", "mc=32,mc=64"], &["mc", "twice"]);
    tiles(&["--tiles", "mc=32", "--tiles", "mc=32"], &["mc", "twice"]);
    for text in ["mc=+32", "mc=032", "mc=-32", "-mc=32", "mc=", "=32", "mc"] {
        tiles(&["--tiles", text], &[text, "NAME=VALUE"]);
    }
    tiles(&["--tiles", "mc=99999999999"], &["mc=99999999999", "too large"]);
    let other = ["diff", "forward_q8", SHAPE[0], SHAPE[1], "--other-tiles", "kc=32,mc=32,kc=64"];
    says(&other, &["kc", "twice"]);
}

#[test]
fn diff_of_a_kernel_and_itself_is_refused() {
    says(&["diff", "forward_q8", SHAPE[0], SHAPE[1]], &["compares the kernel with itself", "--other-tiles"]);
}

#[test]
fn numbers_with_a_sign_get_our_answer() {
    let command = |name, flag, value| [name, "forward_q8", SHAPE[0], SHAPE[1], flag, value];
    for value in ["-3", "+3", "x", "99999999999999999999"] {
        says(&command("run", "--seed", value), &[value, "whole number from 0 to 18446744073709551615"]);
        says(&command("explain", "--vtcm", value), &[value, "bytes"]);
    }
}

#[test]
fn a_product_larger_than_memory_is_refused_before_it_is_made() {
    for (kernel, shape) in [
        ("forward_f16", "100000x100000x100000"),
        ("forward_q4", "1048576x1048576x1048576"),
        ("input_grad_q8", "1x1048576x1048576"),
        ("forward_f16_column_affine", "1048576x1048576x1"),
    ] {
        says(&["run", kernel, "--shape", shape], &[" bytes", "available", "smaller --shape"]);
    }
}

#[test]
fn a_name_that_would_clash_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let rust =
        ["fn", "gen", "abstract", "priv", "core", "std", "alloc", "proc_macro", "crate", "main", "test", "u8", "str"];
    let permafrost = ["kernel_gen", "kernel_dsl", "verify", "hexagon_runtime", "plan", "explain", "emit_c", "kernel"];
    // In the template already: an axis, an operand, a tile size, a window, a loop.
    let template = ["m", "x", "mc", "xa", "mo"];
    let c = ["int32_t", "unsigned", "void", "typedef", "restrict", "printf", "malloc", "memcpy", "errno", "linux"];
    let emitted = ["pf_x", "row", "m_len", "fused_on_v79", "tiles_of"];
    for name in rust.into_iter().chain(permafrost).chain(template).chain(c).chain(emitted) {
        says(&["new", name, "--out", out.to_str().unwrap()], &[&format!("`{name}` cannot name a kernel")]);
    }
    for name in ["Fused", "9fused", "a-b", "", "_a", "größe"] {
        says(&["new", name, "--out", out.to_str().unwrap()], &["cannot name a kernel", "a letter first"]);
    }
    assert!(!out.exists());
}

#[test]
fn the_commands_to_type_next_can_be_typed() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["two words", "it's", "$HOME", "plain"] {
        let out = folder.path().join(name);
        let output = permafrost(&["new", "fused", "--out", out.to_str().unwrap()]);
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let cd = text.lines().find_map(|line| line.strip_suffix(" && cargo run --example explain -- 512x2560x2560"));
        let shell = Command::new("sh").args(["-c", &format!("{} && pwd -P", cd.unwrap())]).output().unwrap();
        let went = String::from_utf8(shell.stdout).unwrap();
        assert_eq!(Path::new(went.trim_end()), fs::canonicalize(&out).unwrap(), "{text}");
    }
}

#[test]
fn emit_names_the_folder_that_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for given in [file.clone(), file.join("below"), "/proc/nowhere".into()] {
        let text = refused(&["emit", "forward_q8", "--arch", "v79", "--out", given.to_str().unwrap()]);
        assert!(text.contains(&format!("{}: ", given.display())), "{text}");
    }
}

#[test]
fn check_takes_kernels_and_an_architecture() {
    let plans = |arguments: &[&str]| -> Vec<(String, String)> {
        let output = permafrost(&[&["check", "--json"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |plan: &Value, key: &str| plan[key].as_str().unwrap().to_owned();
        value["plans"].as_array().unwrap().iter().map(|plan| (text(plan, "kernel"), text(plan, "arch"))).collect()
    };
    let one = plans(&["forward_q8"]);
    assert_eq!(one.len(), 6);
    assert!(one.iter().all(|(kernel, _)| kernel == "forward_q8"));
    let two = plans(&["forward_q8", "forward_q4", "--arch", "v81"]);
    assert_eq!(two.len(), 6);
    assert!(two.iter().all(|(_, arch)| arch == "V81"));
    assert!(two.iter().any(|(kernel, _)| kernel == "forward_q4"));
    says(&["check", "my_product"], &["no library kernel `my_product`", "forward_q8", "`cargo test` in the crate"]);
    says(&["check", "forward_q8", "forward_q9", "--json"], &["no library kernel `forward_q9`"]);
}

#[test]
fn json_is_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("no/such/folder/map.svg");
    let nowhere = nowhere.to_str().unwrap();
    let taken = folder.path().to_str().unwrap();
    let explain = ["explain", "forward_q8", SHAPE[0], SHAPE[1], "--json"];
    let commands: [Vec<&str>; 9] = [
        vec!["list", "--json", "--shape"],
        vec!["check", "nothing", "--json"],
        vec!["emit", "forward_q8", "--arch", "v79", "--out", "/proc/nowhere", "--json"],
        [&explain[..], &["--svg", nowhere]].concat(),
        [&explain[..], &["--tiles", "qc=1"]].concat(),
        [&explain[..], &["--vtcm", "4096"]].concat(),
        vec!["run", "forward_q8", "--shape", "100000x100000x100000", "--json"],
        vec!["diff", "forward_q8", "nothing", SHAPE[0], SHAPE[1], "--json"],
        vec!["new", "fused", "--out", taken, "--json"],
    ];
    for command in commands {
        assert!(!refused(&command).is_empty(), "{command:?}");
    }
}

#[test]
fn a_path_that_is_no_text_can_be_written_to() {
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    for command in [["emit", "forward_q8", "--arch", "v79"].as_slice(), &["new", "fused"]] {
        let out = folder.path().join(std::ffi::OsStr::from_bytes(&[b'a', 0xff])).join(command[0]);
        let mut process = Command::new(env!("CARGO_BIN_EXE_permafrost"));
        let output = process.arg("kernel").args(command).arg("--json").arg("--out").arg(&out).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(value["files"].as_array().unwrap().len() > 2, "{value}");
        assert!(out.is_dir());
    }
}
