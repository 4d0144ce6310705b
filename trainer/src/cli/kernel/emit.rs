//! `permafrost kernel emit`

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;
use kernel_gen::{Arch, emit_c, emit_library, library};

use super::selection::{self, Generation};
use super::{KernelError, json, sources};

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
    /// Overwrite files of other content.
    #[arg(long)]
    force: bool,
    /// Folder of the Permafrost sources, which have the device library; those this program was built from if not given.
    #[arg(long)]
    permafrost: Option<PathBuf>,
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
        let build = build_commands(self.arch.into(), &file, self.kernel.is_some());
        let mut files = vec![(self.out.join(&file), text.into_bytes())];
        files.extend(device_library(&sources::find(self.permafrost)?, &self.out.join("device"))?);
        files.push((self.out.join("BUILD.md"), build.into_bytes()));
        // First the folder that was given, so that an error names it.
        fs::create_dir_all(&self.out).map_err(refused(&self.out))?;
        if !self.force {
            files.iter().try_for_each(|(path, content)| same_or_absent(path, content))?;
        }
        let device = self.out.join("device");
        fs::create_dir_all(&device).map_err(refused(&device))?;
        for (path, content) in &files {
            fs::write(path, content).map_err(refused(path))?;
        }
        let written: Vec<PathBuf> = files.into_iter().map(|(path, _)| path).collect();
        if self.json {
            json::print(&json::files(&written));
        } else {
            outln!("{} files in {}; BUILD.md says how to compile {file}", written.len(), self.out.display());
        }
        Ok(())
    }
}

fn refused(path: &Path) -> impl FnOnce(io::Error) -> KernelError {
    |source| KernelError::Io { path: path.to_path_buf(), source }
}

/// The files of the device library, sorted, as they will lie in `to`.
fn device_library(sources: &Path, to: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, KernelError> {
    let from = sources.join("kernel-gen/device");
    let mut files = Vec::new();
    for entry in fs::read_dir(&from).map_err(refused(&from))? {
        let path = entry.map_err(refused(&from))?.path();
        if path.is_file() {
            let content = fs::read(&path).map_err(refused(&path))?;
            files.push((to.join(path.file_name().unwrap_or_default()), content));
        }
    }
    files.sort();
    Ok(files)
}

fn same_or_absent(path: &Path, content: &[u8]) -> Result<(), KernelError> {
    match fs::read(path) {
        Ok(there) if there != content => Err(KernelError::Differs { path: path.to_path_buf() }),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(path)(error)),
        _ => Ok(()),
    }
}

/// The C text is the same for every architecture unless the kernel says `when v79`: tile sizes come from the plan,
/// instructions from the device library.
fn build_commands(arch: Arch, file: &str, alone: bool) -> String {
    let number = arch.number();
    // What nothing in the file uses: the entry of the kernel, or the table of all entries.
    let (unused, exempt) =
        if alone { ("entry", "-Wno-unused-function") } else { ("table `pf_kernels`", "-Wno-unused-const-variable") };
    let model =
        if alone { "" } else { ",\nfor a functional model with `model_table.h` behind it and `-DPF_VARIANT=NAME`" };
    format!(
        "# Building {file} for {arch}\n\n\
         The same file serves every backend of `device/device.h`; a macro picks it.\n\n\
         With Qualcomm's compiler, whose assembler knows HMX:\n\n\
         ```\n\
         hexagon-clang -mv{number} -mhvx=v{number} -mhvx-length=128B -mhmx -O3 -G0 -fPIC -Wall -Wextra {exempt} \\\n    \
         -DPF_HEXAGON -DPF_SDK -I device -c {file}\n\
         ```\n\n\
         On a laptop, against the functional model that traps on broken rules:\n\n\
         ```\n\
         gcc -std=c11 -O2 -ffp-contract=off -fno-math-errno -Wall -Wextra {exempt} \\\n    \
         -DPF_MODEL_CHECKED -I device -c {file}\n\
         ```\n\n\
         Both lines check the file and leave an object file without code: the {unused} is static, for the file of a device that\n\
         includes it. Hence `{exempt}`. Include {file} in such a file{model}.\n"
    )
}
