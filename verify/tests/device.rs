//! The device layer against itself: every variant of the functional model gives the bytes of the checked one, its tiles
//! follow the layout rules, and every rule of the checked model traps with the source position.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One compiled variant of the device layer.
struct Variant {
    name: &'static str,
    flags: &'static [&'static str],
}

fn variants() -> Vec<Variant> {
    let mut variants = vec![
        Variant {
            name: "checked",
            flags: &["-DPF_MODEL_CHECKED"],
        },
        Variant {
            name: "portable",
            flags: &["-DPF_MODEL_FAST", "-DPF_SOFTWARE_HALF"],
        },
    ];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
        {
            variants.push(Variant {
                name: "avx2",
                flags: &["-DPF_MODEL_FAST", "-mavx2", "-mfma", "-mf16c"],
            });
            if is_x86_feature_detected!("avx512f") {
                variants.push(Variant {
                    name: "avx512",
                    flags: &["-DPF_MODEL_FAST", "-mavx512f", "-mavx2", "-mfma", "-mf16c"],
                });
            }
        }
    }
    #[cfg(target_arch = "aarch64")]
    variants.push(Variant {
        name: "neon",
        flags: &["-DPF_MODEL_FAST"],
    });
    variants
}

fn compile(arguments: &[&str], output: &Path) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = Command::new(compiler)
        .args([
            "-O3",
            "-std=c11",
            "-ffp-contract=off",
            "-fno-math-errno",
            "-Wall",
            "-Wextra",
            "-Werror",
        ])
        .arg("-I")
        .arg(manifest.join("../kernel-gen/device"))
        .current_dir(manifest.join("tests/device"))
        .args(arguments)
        .arg("-o")
        .arg(output)
        .status()
        .expect("a C compiler (cc, or the one CC names)");
    assert!(
        status.success(),
        "the device layer must compile without warnings: {arguments:?}"
    );
}

#[test]
fn variants_agree_and_rules_trap() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let variants = variants();
    let objects: Vec<PathBuf> = variants
        .iter()
        .map(|variant| {
            let object = folder.path().join(format!("{}.o", variant.name));
            let name = format!("-DPF_VARIANT={}", variant.name);
            let mut arguments = vec!["-c", "unit.c", name.as_str()];
            arguments.extend(variant.flags);
            compile(&arguments, &object);
            object
        })
        .collect();

    let list: String = variants
        .iter()
        .map(|variant| format!("V({})", variant.name))
        .collect();
    let list = format!("-DVARIANTS={list}");
    let program = folder.path().join("compare");
    let mut arguments = vec!["compare.c", list.as_str()];
    arguments.extend(
        objects
            .iter()
            .map(|object| object.to_str().expect("a UTF-8 temporary folder")),
    );
    arguments.push("-lm");
    compile(&arguments, &program);

    let output = Command::new(&program)
        .output()
        .expect("the compiled comparison runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}
