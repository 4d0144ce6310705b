//! `permafrost kernel emit`

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use kernel_gen::{Arch, device_files, emit_c, emit_library, library};

use super::selection::{self, Generation};
use super::{KernelError, json};

/// Flags of `permafrost kernel emit`.
#[derive(Args, Debug)]
pub(super) struct EmitArgs {
    /// Kernel to emit; all of them, with the table a device finds them in, if not given.
    kernel: Option<String>,
    /// NPU generation to write the build commands for.
    #[arg(long, value_enum)]
    arch: Generation,
    /// Folder to write to; made if it is not there.
    #[arg(long)]
    out: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl EmitArgs {
    /// Writes the C file, the device library and the build commands.
    pub fn run(self) -> Result<(), KernelError> {
        let (file, text) = match &self.kernel {
            Some(name) => (format!("{name}.c"), emit_c(&selection::kernel(name)?, self.arch.into())),
            None => {
                let kernels: Vec<_> = library::all().iter().map(selection::verified).collect::<Result<_, _>>()?;
                ("permafrost_kernels.c".to_owned(), emit_library(&kernels))
            }
        };
        // First the folder that was given, so that an error names it.
        fs::create_dir_all(&self.out).map_err(|source| KernelError::Io { path: self.out.clone(), source })?;
        let device = self.out.join("device");
        fs::create_dir_all(&device).map_err(|source| KernelError::Io { path: device.clone(), source })?;
        let mut written = vec![write(&self.out.join(&file), &text)?];
        let headers = kernel_gen::device_dir();
        for from in device_files().map_err(|source| KernelError::Io { path: headers, source })? {
            let to = device.join(from.file_name().unwrap_or_default());
            fs::copy(&from, &to).map_err(|source| KernelError::Io { path: from, source })?;
            written.push(to);
        }
        written.push(write(&self.out.join("BUILD.md"), &build_commands(self.arch.into(), &file))?);
        if self.json {
            json::print(&json::files(&written));
        } else {
            outln!("{} files in {}; BUILD.md says how to compile {file}", written.len(), self.out.display());
        }
        Ok(())
    }
}

fn write(path: &Path, text: &str) -> Result<PathBuf, KernelError> {
    fs::write(path, text).map_err(|source| KernelError::Io { path: path.to_path_buf(), source })?;
    Ok(path.to_path_buf())
}

/// The C text is the same for every architecture unless the kernel says `when v79`: tile sizes come from the plan,
/// instructions from the device library.
fn build_commands(arch: Arch, file: &str) -> String {
    let number = arch.number();
    format!(
        "# Building {file} for {arch}\n\n\
         The same file serves every backend of `device/device.h`; a macro picks it.\n\n\
         With Qualcomm's compiler, whose assembler knows HMX:\n\n\
         ```\n\
         hexagon-clang -mv{number} -mhvx=v{number} -mhvx-length=128B -mhmx -O3 -G0 -fPIC -Wall -Wextra \\\n    \
         -DPF_HEXAGON -DPF_SDK -I device -c {file}\n\
         ```\n\n\
         On a laptop, against the functional model that traps on broken rules:\n\n\
         ```\n\
         gcc -std=c11 -O2 -ffp-contract=off -fno-math-errno -Wall -Wextra -DPF_MODEL_CHECKED -I device -c {file}\n\
         ```\n\n\
         Without an entry that calls it a kernel is an unused static function, which the compiler says; a device includes\n\
         the file and, for the functional model, `model_table.h` after it.\n"
    )
}
