//! Every emitted kernel compiles without a warning: against both functional models with gcc and clang, alone and with the
//! others, and against the hardware backend, for every architecture, with a clang that has Hexagon.
//!
//! A missing clang is a notice, and a failure where `CI` or `PERMAFROST_REQUIRE_CLANG` is set; gcc must be there.

use std::{
    collections::BTreeSet,
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
};

use kernel_gen::{Arch, Verified, emit_library, library, verify};

const WARNINGS: [&str; 5] = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"];
/// The flags of each functional model.
const MODELS: [[&str; 2]; 2] =
    [["-DPF_MODEL_CHECKED", "-DPF_VARIANT=checked"], ["-DPF_MODEL_FAST", "-DPF_VARIANT=fast"]];

fn kernels() -> Vec<Verified> {
    library::all().iter().chain(&library::extra()).map(|kernel| verify(kernel).unwrap()).collect()
}

/// The first of `names` that runs, or nothing, with a notice, where it need not be there.
fn found(names: &[&str], what: &str) -> Option<String> {
    let runs = |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let name = names.iter().find(runs).map(ToString::to_string);
    if name.is_none() {
        let notice = format!("{what} is not installed (tried {}): run tools/set-up", names.join(", "));
        let required = ["CI", "PERMAFROST_REQUIRE_CLANG"].iter().any(|name| env::var_os(name).is_some());
        assert!(!required, "{notice}");
        // Not eprintln!, which the test harness hides.
        let mut visible = io::stderr();
        writeln!(visible, "skipped: {notice}").unwrap();
    }
    name
}

/// A unit of its own folder, so that tests do not write over one another's.
fn unit(test: &str, name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    fs::create_dir_all(&folder).unwrap();
    let unit = folder.join(format!("{name}.c"));
    fs::write(&unit, text).unwrap();
    unit
}

fn compile(compiler: &str, flags: &[&str], unit: &Path) {
    let output = Command::new(compiler)
        .args(WARNINGS)
        .args(flags)
        .arg("-c")
        .arg("-I")
        .arg(kernel_gen::device_dir())
        .arg(unit)
        .arg("-o")
        .arg(unit.with_extension("o"))
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(
        output.status.success(),
        "{compiler} {} {}\n{}",
        flags.join(" "),
        unit.display(),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn compile_for_the_models(compiler: &str, test: &str) {
    let kernels = kernels();
    for kernel in &kernels {
        let name = &kernel.kernel().name;
        let library = emit_library(std::slice::from_ref(kernel));
        let unit = unit(test, name, &format!("{library}\n#include \"model_table.h\"\n"));
        for model in MODELS {
            compile(compiler, &[&model[..], &["-O1", "-fno-math-errno"]].concat(), &unit);
        }
    }
    let unit = unit(test, "all", &format!("{}\n#include \"model_table.h\"\n", emit_library(&kernels)));
    for model in MODELS {
        compile(compiler, &[&model[..], &["-O1", "-fno-math-errno"]].concat(), &unit);
    }
}

#[test]
fn with_gcc_for_both_models() {
    compile_for_the_models("gcc", "emitted-gcc");
}

#[test]
fn with_clang_for_both_models() {
    if let Some(clang) = found(&["clang", "clang-22", "clang-19", "clang-16", "clang-14"], "clang") {
        compile_for_the_models(&clang, "emitted-clang");
    }
}

#[test]
fn with_clang_for_hexagon() {
    let Some(clang) = found(&["clang-22"], "a clang with Hexagon V79 and V81") else { return };
    // The library has every kernel as it is on every architecture.
    let table = "const struct pf_kernel *const kernels = pf_kernels;";
    let unit = unit("emitted-hexagon", "all", &format!("{}\n{table}\n", emit_library(&kernels())));
    for arch in Arch::ALL {
        let cpu = format!("-mcpu=hexagonv{}", arch.number());
        let target = ["--target=hexagon-unknown-none-elf", &cpu, "-mhvx", "-mhvx-length=128B"];
        for float in [&[][..], &["-DPF_SOFTWARE_FLOAT"]] {
            compile(&clang, &[&target[..], &["-ffreestanding", "-O2", "-DPF_HEXAGON"], float].concat(), &unit);
        }
    }
}

/// A kernel called `enter` beside the device layer's `pf_enter`, and so on for all of it.
#[test]
fn kernels_called_like_functions_of_the_device_layer() {
    let mut names = BTreeSet::new();
    for file in kernel_gen::device_files().unwrap() {
        let text = fs::read_to_string(file).unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        names.extend(words.filter_map(|word| Some(word.strip_prefix("pf_")?.to_string())));
    }
    let named = |name: &String| {
        let mut kernel = library::forward_f16();
        kernel.name.clone_from(name);
        verify(&kernel).ok()
    };
    let kernels: Vec<_> = names.iter().filter_map(named).collect();
    assert!(kernels.len() > 100, "{names:?}");
    let unit = unit("emitted-names", "names", &format!("{}\n#include \"model_table.h\"\n", emit_library(&kernels)));
    for model in MODELS {
        compile("gcc", &[&model[..], &["-O0", "-fsyntax-only"]].concat(), &unit);
    }
}
