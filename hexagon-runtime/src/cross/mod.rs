//! The library the phone loads: emitted kernels written out as a C project, compiled for Hexagon, linked and looked through.
//!
//! A build ends in an error, not in a library, when the disassembly holds an instruction that is not to be run where the
//! library is meant for, or when a symbol is left open that the phone's runtime does not have.

mod compile;
mod error;
mod link;
mod opcode;
mod project;
mod scan;
mod symbols;
mod toolchain;

use std::path::{Path, PathBuf};

use kernel_gen::{Arch, Verified};

pub use compile::{Optimize, compile};
pub use error::CrossError;
pub use link::link;
pub use opcode::{Class, HmxOp, Opcode};
pub use project::{Project, UNITS};
pub use scan::{Finding, Scan, Target};
pub use symbols::{check_undefined, exported, undefined, vendor_symbols};
pub use toolchain::{Toolchain, ToolchainKind};

/// What a build made and found.
#[derive(Debug)]
pub struct Build {
    /// The shared object.
    pub library: PathBuf,
    /// Compiler and its version.
    pub compiler: String,
    /// Instructions by class.
    pub scan: Scan,
    /// Symbols the phone's runtime gives, sorted.
    pub undefined: Vec<String>,
    /// Files of the project.
    pub files: Vec<PathBuf>,
}

/// Writes the project of `kernels` to `folder`, compiles and links it for `arch`, and looks the result through.
///
/// # Errors
/// [`CrossError`]: a tool is missing or refuses, a forbidden instruction, a symbol nobody has, or the file system.
pub fn build(kernels: &[Verified], arch: Arch, kind: ToolchainKind, folder: &Path) -> Result<Build, CrossError> {
    // First the tools, so that nothing is written where nothing can be built.
    let tools = Toolchain::find(kind)?;
    let project = Project::write(kernels, folder)?;
    let mut objects = Vec::new();
    for unit in UNITS {
        objects.push(compile(&tools, arch, &project.folder, unit, Optimize::Speed, &[])?);
    }
    let library = link(&tools, arch, &project.folder, &objects)?;
    let scan = Scan::of(&tools, arch, &library)?;
    scan.allow(Target::Phone)?;
    let undefined = undefined(&tools, &library)?;
    check_undefined(&undefined)?;
    Ok(Build { library, compiler: tools.version.clone(), scan, undefined, files: project.files })
}
