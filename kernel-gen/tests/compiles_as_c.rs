//! The emitted library compiles without a warning against the device layer.

use std::{path::Path, process::Command};

use kernel_gen::{emit_library, library, verify};

#[test]
fn emitted_library_compiles_without_warnings() {
    let kernels: Vec<_> =
        library::all().iter().chain(&library::extra()).map(|kernel| verify(kernel).unwrap()).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emitted");
    std::fs::create_dir_all(&folder).unwrap();
    let unit = folder.join("kernels.c");
    std::fs::write(&unit, format!("{}\n#include \"model_table.h\"\n", emit_library(&kernels))).unwrap();
    for variant in [["-DPF_MODEL_CHECKED", "-DPF_VARIANT=checked"], ["-DPF_MODEL_FAST", "-DPF_VARIANT=fast"]] {
        let output = Command::new("gcc")
            .args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-fno-math-errno", "-c"])
            .args(variant)
            .arg("-I")
            .arg(kernel_gen::device_dir())
            .arg(&unit)
            .arg("-o")
            .arg(folder.join(format!("{}.o", &variant[1][13..])))
            .output()
            .expect("gcc is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
