//! Emits the library kernels as C and compiles them against every functional model this architecture has.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// One compiled functional model: name, preprocessor switch, compiler flags.
struct Variant {
    name: &'static str,
    switch: &'static str,
    flags: &'static [&'static str],
}

const CHECKED: Variant = Variant { name: "checked", switch: "PF_MODEL_CHECKED", flags: &[] };
const PORTABLE: Variant = Variant { name: "portable", switch: "PF_MODEL_FAST", flags: &[] };
const AVX2: Variant = Variant { name: "avx2", switch: "PF_MODEL_FAST", flags: &["-mavx2", "-mfma", "-mf16c"] };
const AVX512: Variant = Variant {
    name: "avx512",
    switch: "PF_MODEL_FAST",
    flags: &["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma", "-mf16c"],
};
const NEON: Variant = Variant { name: "neon", switch: "PF_MODEL_FAST", flags: &[] };

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", kernel_gen::device_dir().display());
    for file in kernel_gen::device_files().unwrap_or_else(|error| stop(&format!("device library: {error}"))) {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_else(|| stop("cargo sets OUT_DIR")));
    write(&out.join("kernels.h"), &kernels());

    let variants: &[Variant] = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => &[CHECKED, PORTABLE, AVX2, AVX512],
        Ok("aarch64") => &[CHECKED, PORTABLE, NEON],
        _ => &[CHECKED, PORTABLE],
    };
    for variant in variants {
        compile(&out, variant);
    }
}

/// The C of all library kernels; a kernel the verifier refuses stops the build with its diagnostics.
fn kernels() -> String {
    let mut verified = Vec::new();
    let mut refused = String::new();
    for kernel in kernel_gen::library::all() {
        match kernel_gen::verify(&kernel) {
            Ok(proof) => verified.push(proof),
            Err(diagnostics) => {
                for diagnostic in diagnostics {
                    refused.push_str(&format!("\n{diagnostic}"));
                }
            }
        }
    }
    if !refused.is_empty() {
        stop(&format!("the kernel library does not pass the verifier:{refused}"));
    }
    kernel_gen::emit_library(&verified)
}

fn compile(out: &Path, variant: &Variant) {
    let Variant { name, switch, flags } = variant;
    let unit = out.join(format!("model_{name}.c"));
    write(
        &unit,
        &format!(
            "#define {switch} 1\n#define PF_VARIANT {name}\n#include \"device.h\"\n#include \"kernels.h\"\n#include \"model_table.h\"\n"
        ),
    );
    let mut build = cc::Build::new();
    build.file(&unit).include(kernel_gen::device_dir()).include(out).opt_level(3).std("c11");
    // Contraction would round a product and a sum once instead of twice, and bits would depend on the instruction set.
    build.flag("-ffp-contract=off").flag("-fno-math-errno").flag("-Wno-unused-function");
    for flag in *flags {
        build.flag(flag);
    }
    build.compile(&format!("pf_model_{name}"));
}

fn write(path: &Path, text: &str) {
    // An unchanged file keeps its time, so that an unchanged kernel is not compiled again.
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::write(path, text).unwrap_or_else(|error| stop(&format!("{}: {error}", path.display())));
}

fn stop(reason: &str) -> ! {
    for line in reason.lines() {
        println!("cargo::error={line}");
    }
    process::exit(1);
}
