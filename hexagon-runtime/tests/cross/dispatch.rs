//! The part of the session that needs no phone: from a packet to a kernel's arguments, run on the host.

use std::path::Path;
use std::process::Command;

#[test]
fn packets_become_arguments_or_a_status() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("dispatch");
    let gcc = Command::new("gcc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-O1", "-g"])
        .args(["-fsanitize=undefined", "-fno-sanitize-recover=all", "-DPF_MODEL_FAST", "-D__HEXAGON_ARCH__=79"])
        .arg("-I")
        .arg(kernel_gen::device_dir())
        .arg("-I")
        .arg(sources.join("dsp"))
        .arg(sources.join("tests/cross/dispatch.c"))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(gcc.status.success(), "{}", String::from_utf8_lossy(&gcc.stderr));
    let run = Command::new(&program).output().unwrap();
    let text = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && text.is_empty(), "{text}");
}
