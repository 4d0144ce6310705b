//! Quantised weights that are kept for the next start.

mod npu_run;
mod tiny_model;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use npu_run::{NpuRun, Trained};

/// The path behind `weight cache  made` or `read`.
fn cache(trained: &Trained, what: &str) -> PathBuf {
    let prefix = format!("weight cache  {what} ");
    let line = trained.stderr.lines().find_map(|line| line.strip_prefix(&prefix));
    line.unwrap_or_else(|| panic!("no `{prefix}` in {}", trained.stderr)).into()
}

/// Runs twice, which makes a cache and reads it, and gives the first run and the file.
fn made(run: &NpuRun) -> (Trained, PathBuf) {
    let first = run.train(&[]);
    let path = cache(&first, "made");
    assert_eq!(cache(&run.train(&[]), "read"), path);
    (first, path)
}

#[test]
fn steps_have_the_same_bits_without_a_cache_when_it_is_made_and_when_it_is_read() {
    let run = NpuRun::new();
    let off = run.train(&["--weight-cache", "off"]);
    assert!(!off.stderr.contains("weight cache"), "{}", off.stderr);
    let made = run.train(&[]);
    made.assert_bits_of(&off);
    let path = cache(&made, "made");
    assert_eq!(path.parent().unwrap(), run.path("").canonicalize().unwrap());
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    for more in [&[][..], &["--device", "model-checked"]] {
        let read = run.train(more);
        read.assert_bits_of(&off);
        assert_eq!(cache(&read, "read"), path);
    }
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written, "what was read was written again");
    let elsewhere = run.path("new/folder").display().to_string();
    let moved = run.train(&["--weight-cache", &elsewhere]);
    moved.assert_bits_of(&off);
    assert!(cache(&moved, "made").starts_with(&elsewhere));
}

#[test]
fn weights_in_other_precisions_leave_no_file() {
    let run = NpuRun::new();
    for more in [["--precision", "f16"], ["--device", "cpu"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_permafrost"));
        let path = |name: &str| run.path(name).display().to_string();
        command.args(["train", "--model", &path("model"), "--data", &path("data.jsonl"), "--out", &path("run")]);
        assert!(command.args(more).env("XDG_CACHE_HOME", run.path("user")).status().unwrap().success());
        assert!(caches(&run.path("")).is_empty() && !run.path("user").exists());
    }
}

fn caches(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "q8tiles")).collect()
}

#[test]
fn a_checkpoint_that_changed_is_never_answered_from_the_cache_of_another() {
    let run = NpuRun::new();
    let (before, old) = made(&run);
    // One weight of the last matrix in the file, its length and time kept.
    let weights = run.path("model/model.safetensors");
    let time = fs::metadata(&weights).unwrap().modified().unwrap();
    let mut bytes = fs::read(&weights).unwrap();
    let last = bytes.len() - 4 * (64 + 64);
    let place = bytes.len() / 2 / 4 * 4;
    assert!(place < last);
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize + 8;
    let at = header + (place - header) / 4 * 4;
    bytes[at..at + 4].copy_from_slice(&0.9f32.to_le_bytes());
    fs::write(&weights, bytes).unwrap();
    File::options().write(true).open(&weights).unwrap().set_modified(time).unwrap();

    let off = run.train(&["--weight-cache", "off"]);
    assert_ne!(off.losses, before.losses, "the change changes nothing");
    let changed = run.train(&[]);
    changed.assert_bits_of(&off);
    let new = cache(&changed, "made");
    assert_ne!(new, old);
    run.train(&[]).assert_bits_of(&off);
    // The other's file under this one's name is found out too.
    fs::copy(&old, &new).unwrap();
    let fooled = run.train(&[]);
    assert!(fooled.stderr.contains("made from") && fooled.stderr.contains("ignored"), "{}", fooled.stderr);
    fooled.assert_bits_of(&off);
}

#[test]
fn a_damaged_file_is_named_ignored_and_made_again() {
    let run = NpuRun::new();
    let (first, path) = made(&run);
    let sound = fs::read(&path).unwrap();
    let header = u64::from_le_bytes(sound[..8].try_into().unwrap()) as usize + 8;
    let flipped = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        bytes
    };
    let replaced = |from: &str, to: &str| {
        let text = String::from_utf8(sound[8..header].to_vec()).unwrap();
        assert!(text.contains(from) && from.len() == to.len());
        [&sound[..8], text.replace(from, to).as_bytes(), &sound[header..]].concat()
    };
    let damages = [
        ("first tile", flipped(header)),
        ("last tile", flipped(sound.len() - 1)),
        ("length of the header", flipped(0)),
        ("header", flipped(header / 2)),
        ("cut short", sound[..sound.len() - 1].to_vec()),
        ("too long", [&sound[..], b"x"].concat()),
        ("header alone", sound[..header].to_vec()),
        ("empty", Vec::new()),
        ("other format", replaced("permafrost q8 tiles", "permafrost q9 tiles")),
        ("other layout", replaced(r#""layout":"1""#, r#""layout":"0""#)),
        ("a weight under another name", replaced("layers.1.mlp.up_proj", "layers.1.mlp.vp_proj")),
        ("other type", replaced(r#""dtype":"U8""#, r#""dtype":"I8""#)),
    ];
    for (what, bytes) in damages {
        fs::write(&path, bytes).unwrap();
        let trained = run.train(&[]);
        let said = &trained.stderr;
        assert!(said.contains("ignored") && said.contains(&path.display().to_string()), "{what}: {said}");
        trained.assert_bits_of(&first);
        assert_eq!(cache(&trained, "made"), path, "{what}");
        // The header lists checksums in any order.
        let remade = fs::read(&path).unwrap();
        assert!(remade.len() == sound.len() && remade[header..] == sound[header..], "{what}: other weights were kept");
    }
}

#[test]
fn without_a_place_to_write_to_training_goes_on_with_a_warning() {
    let run = NpuRun::new();
    let off = run.train(&["--weight-cache", "off"]);
    let file = run.path("data.jsonl").display().to_string();
    let nowhere = run.train(&["--weight-cache", &file]);
    nowhere.assert_bits_of(&off);
    assert!(
        nowhere.stderr.contains("cannot be kept") && nowhere.stderr.contains("--weight-cache"),
        "{}",
        nowhere.stderr
    );

    // A limit of 40 KiB on any file is less than the cache's 64 and stops its write as a full disk does.
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 80; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_permafrost")]);
    let full = run.train_by(limited, &[]);
    full.assert_bits_of(&off);
    assert_eq!(full.stderr.matches("cannot be kept").count(), 2, "{}", full.stderr);
    assert!(caches(&run.path("")).is_empty());
    let left = fs::read_dir(run.path("user/permafrost/weights")).unwrap().count();
    assert_eq!(left, 0, "half a cache was left behind");

    // Something in the way beside the model: the user's folder is next.
    let beside = cache(&run.train(&[]), "made");
    fs::remove_file(&beside).unwrap();
    fs::create_dir_all(beside.join("in the way")).unwrap();
    let made = run.train(&[]);
    made.assert_bits_of(&off);
    let users = cache(&made, "made");
    assert!(users.starts_with(run.path("user/permafrost/weights")), "{}", users.display());
    let read = run.train(&[]);
    read.assert_bits_of(&off);
    assert_eq!(cache(&read, "read"), users);
}
