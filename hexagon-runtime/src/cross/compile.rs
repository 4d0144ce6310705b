//! One C file of the project to an object.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use kernel_gen::Arch;

use super::{CrossError, Toolchain, ToolchainKind};

/// What the compiler aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimize {
    /// The library: `-O3`.
    Speed,
    /// Tests that look for an instruction: `-O1`.
    Little,
}

/// Compiles `folder/unit` to an object beside it; every warning is an error. `flags` come last.
///
/// # Errors
/// [`CrossError::Refused`] with the compiler's text.
pub fn compile(
    tools: &Toolchain,
    arch: Arch,
    folder: &Path,
    unit: &str,
    optimize: Optimize,
    flags: &[&str],
) -> Result<PathBuf, CrossError> {
    let object = folder.join(unit).with_extension(format!("v{}.o", arch.number()));
    let mut clang = Command::new(&tools.clang);
    // In the folder, so that messages and debug lines name files as the project has them.
    clang.current_dir(folder).args(target_flags(tools, arch));
    clang.arg(match optimize {
        Optimize::Speed => "-O3",
        Optimize::Little => "-O1",
    });
    clang.args([
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-G0",
        "-fPIC",
        "-fvisibility=hidden",
        "-ffp-contract=off",
        "-fno-math-errno",
    ]);
    clang.args(["-DPF_HEXAGON", "-I", "device", "-I", "."]).args(flags);
    clang.args([OsStr::new("-c"), OsStr::new(unit), OsStr::new("-o")]);
    clang.arg(object.file_name().unwrap_or_default());
    run(&mut clang)?;
    Ok(object)
}

fn target_flags(tools: &Toolchain, arch: Arch) -> Vec<String> {
    let number = arch.number();
    match tools.kind {
        // No -mhvx-ieee-fp: V79 has no IEEE float HVX any more, and without the flag its intrinsics do not exist.
        ToolchainKind::Llvm => ["--target=hexagon-unknown-none-elf", "-mhvx", "-mhvx-length=128B", "-ffreestanding"]
            .into_iter()
            .map(str::to_owned)
            .chain([format!("-mcpu=hexagonv{number}")])
            .collect(),
        ToolchainKind::Sdk => {
            let mut flags = vec![format!("-mv{number}"), format!("-mhvx=v{number}")];
            flags.extend(["-mhvx-length=128B", "-mhmx", "-DPF_SDK"].map(str::to_owned));
            if let Some(sdk) = &tools.sdk {
                let qurt = format!("rtos/qurt/computev{number}/include/qurt");
                for folder in ["incs", "incs/stddef", "ipc/fastrpc/incs", qurt.as_str()] {
                    flags.push(format!("-I{}", sdk.join(folder).display()));
                }
            }
            flags
        }
    }
}

/// Runs a tool; its complaint is the error.
pub(super) fn run(command: &mut Command) -> Result<Vec<u8>, CrossError> {
    let line = || {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    };
    let described = line();
    let output = command
        .output()
        .map_err(|source| CrossError::Refused { command: described.clone(), stderr: source.to_string() })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(CrossError::Refused { command: described, stderr: String::from_utf8_lossy(&output.stderr).into_owned() })
}
