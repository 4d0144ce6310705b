//! Emitted kernels compiled into a shared object that a runtime can load in place of the built-in ones.

use std::path::PathBuf;
use std::process::Command;
use std::{fs, io};

use kernel_gen::Verified;

/// A compiled kernel library; its file goes with it.
pub struct Compiled {
    folder: tempfile::TempDir,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// A file could not be written or gcc not started.
    #[error("cannot compile kernels: {0}; gcc must be installed and the temporary folder writable")]
    Io(#[from] io::Error),
    /// gcc refused the emitted C.
    #[error("gcc refused the emitted C:\n{0}")]
    Refused(String),
}

impl Compiled {
    /// Compiles `kernels` against the checked or the fast (portable) functional model.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn new(kernels: &[Verified], checked: bool) -> Result<Compiled, CompileError> {
        Compiled::from_c(&kernel_gen::emit_library(kernels), checked)
    }

    /// Compiles the text of an emitted library, for tests that alter it.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn from_c(library: &str, checked: bool) -> Result<Compiled, CompileError> {
        let compiled = Compiled { folder: tempfile::tempdir()? };
        let folder = compiled.folder.path();
        fs::write(folder.join("kernels.h"), library)?;
        fs::write(
            folder.join("unit.c"),
            "#include \"device.h\"\n#include \"kernels.h\"\n#include \"model_table.h\"\n",
        )?;
        let gcc = Command::new("gcc")
            .args([
                "-std=c11",
                "-O2",
                "-ffp-contract=off",
                "-fno-math-errno",
                "-shared",
                "-fPIC",
                "-DPF_VARIANT=loaded",
            ])
            .arg(if checked { "-DPF_MODEL_CHECKED=1" } else { "-DPF_MODEL_FAST=1" })
            .arg("-I")
            .arg(kernel_gen::device_dir())
            .arg("-I")
            .arg(folder)
            .arg(folder.join("unit.c"))
            .arg("-o")
            .arg(compiled.path())
            .output()?;
        if !gcc.status.success() {
            return Err(CompileError::Refused(String::from_utf8_lossy(&gcc.stderr).into_owned()));
        }
        Ok(compiled)
    }

    /// The shared object.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("kernels.so")
    }
}
