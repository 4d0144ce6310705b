//! The crate `permafrost kernel new` writes, as a newcomer uses it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Builds and tests a new crate against these sources, offline, in a folder of its own that later runs use again. That takes
/// minutes the first time: only where `CI` or `PERMAFROST_BUILD_NEW_CRATE` is set.
#[test]
fn a_new_crate_builds_passes_its_test_and_runs_its_example() {
    if ["CI", "PERMAFROST_BUILD_NEW_CRATE"].iter().all(|name| std::env::var_os(name).is_none()) {
        // Not eprintln!, which the test harness hides.
        writeln!(std::io::stderr(), "skipped: PERMAFROST_BUILD_NEW_CRATE is not set: no new crate is built").unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("fused");
    let permafrost =
        Command::new(env!("CARGO_BIN_EXE_permafrost")).args(["kernel", "new", "fused", "--out"]).arg(&out).output();
    assert!(permafrost.unwrap().status.success());
    // The versions this workspace was built with, which are there without a network.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    std::fs::copy(workspace.join("Cargo.lock"), out.join("Cargo.lock")).unwrap();
    let cargo = |arguments: &[&str]| {
        Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(&out)
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-crate"))
            .env("PERMAFROST_CASES", "64")
            .output()
            .unwrap()
    };
    let passes = |arguments: &[&str]| {
        let output = cargo(arguments);
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "cargo {arguments:?}: {text}\n{errors}");
        text.into_owned()
    };
    let tested = passes(&["test", "--offline", "--quiet"]);
    assert!(tested.contains("1 passed"), "{tested}");

    // What the tests are built of is what the example is built of. A file name has the hash of the settings in it.
    let json = ["--offline", "--quiet", "--message-format=json"];
    let for_tests = libraries(&passes(&[&["test", "--no-run"], &json[..]].concat()));
    let for_example = libraries(&passes(&[&["build", "--example", "explain"], &json[..]].concat()));
    assert!(for_example.iter().any(|file| file.contains("kernel_gen")), "{for_example:?}");
    assert_eq!(for_example.difference(&for_tests).collect::<Vec<_>>(), Vec::<&String>::new());

    let example = ["run", "--offline", "--quiet", "--example", "explain", "--"];
    let explained = passes(&[&example[..], &["100x200x300"]].concat());
    assert!(explained.contains("fused.c written") && explained.contains("fused.svg written"), "{explained}");
    assert!(std::fs::read_to_string(out.join("fused.c")).unwrap().contains("static int fused_entry("));
    assert!(std::fs::read_to_string(out.join("fused.svg")).unwrap().starts_with("<svg"));

    let refused = |arguments: &[&str]| {
        let output = cargo(&[&example[..], arguments].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        said
    };
    let usage: [&[&str]; 8] = [
        &[],
        &["100x200"],
        &["1x2x3x4"],
        &["axbxc"],
        &["-1x2x3"],
        &["99999999999x1x1"],
        &["x"],
        &["100", "200", "300"],
    ];
    for arguments in usage {
        assert_eq!(
            refused(arguments),
            "usage: cargo run --example explain -- SHAPE: the extents of m, n, k, 1 to 16777216, as in 512x512x512\n"
        );
    }
    let zero = refused(&["0x200x300"]);
    assert_eq!(zero, "axis `m` of kernel `fused` has extent 0: it must lie in 1..=16777216\n");

    // A kernel that was altered behind the macro's back, in two places: both rules, in words.
    let written = std::fs::read_to_string(out.join("src/lib.rs")).unwrap();
    let altered = "pub fn fused() -> kernel_gen::Kernel {\n    let mut kernel = written::fused();\n    \
                   kernel.axes[0].name = \"static\".into();\n    kernel.windows[0].name = \"linux\".into();\n    kernel\n}\n";
    std::fs::write(out.join("src/lib.rs"), format!("mod written {{\n{written}}}\n{altered}")).unwrap();
    let broken = refused(&["100x200x300"]);
    for words in ["error[name]: axis `static`", "error[name]: window `linux`", "\n  help: take another"] {
        assert!(broken.contains(words), "{words}: {broken}");
    }
}

/// Library files of dependencies in what `cargo --message-format=json` printed.
fn libraries(messages: &str) -> BTreeSet<String> {
    let lines = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = lines.filter_map(|message| message["filenames"].as_array().cloned()).flatten();
    let files = files.filter_map(|file| file.as_str().map(str::to_owned));
    files.filter(|file| file.ends_with(".rlib") && file.contains("/deps/")).collect()
}
