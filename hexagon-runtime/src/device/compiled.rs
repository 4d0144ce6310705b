//! Emitted kernels compiled with a model: into a shared object that a runtime can load in place of the built-in ones, or into a
//! program.

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
    #[error(
        "gcc refused the emitted C; it names the body of a step by the file and line it is written in, every other line as \
         kernels.h, and quotes it:\n{0}"
    )]
    Refused(String),
}

/// What the unit becomes.
#[derive(Clone, Copy)]
enum Form<'c> {
    SharedObject,
    /// With this C behind the kernels and `model_table.h`.
    Program(&'c str),
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
        compile(library, checked, Form::SharedObject)
    }

    /// Compiles the text of an emitted library into a program: `main` is C that stands behind the kernels and `model_table.h`
    /// and has the function of that name; it may use threads and POSIX.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn program(library: &str, checked: bool, main: &str) -> Result<Compiled, CompileError> {
        compile(library, checked, Form::Program(main))
    }

    /// The shared object, or the program.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("kernels.so")
    }
}

fn compile(library: &str, checked: bool, form: Form<'_>) -> Result<Compiled, CompileError> {
    let compiled = Compiled { folder: tempfile::tempdir()? };
    let folder = compiled.folder.path();
    fs::write(folder.join("kernels.h"), library)?;
    let mut unit = "#include \"device.h\"\n#include \"kernels.h\"\n#include \"model_table.h\"\n".to_owned();
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-O2", "-ffp-contract=off", "-fno-math-errno", "-DPF_VARIANT=loaded"]);
    // A function nobody has, or a pointer taken for a number, is an error with words now and no crash later.
    gcc.args(["-Werror=implicit-function-declaration", "-Werror=int-conversion", "-Werror=incompatible-pointer-types"]);
    match form {
        Form::SharedObject => {
            gcc.args(["-shared", "-fPIC", "-Wl,-z,defs"]);
        }
        Form::Program(main) => {
            fs::write(folder.join("main.c"), main)?;
            unit.push_str("#include \"main.c\"\n");
            // What a program needs of POSIX beside C11.
            gcc.args(["-pthread", "-D_GNU_SOURCE"]);
        }
    }
    fs::write(folder.join("unit.c"), unit)?;
    gcc.arg(if checked { "-DPF_MODEL_CHECKED=1" } else { "-DPF_MODEL_FAST=1" });
    gcc.arg("-I").arg(kernel_gen::device_dir()).args(["unit.c", "-o", "kernels.so", "-lm"]);
    // In the folder, so that messages name no file that is gone when they are read.
    let gcc = gcc.current_dir(folder).output()?;
    if !gcc.status.success() {
        return Err(CompileError::Refused(String::from_utf8_lossy(&gcc.stderr).into_owned()));
    }
    Ok(compiled)
}
