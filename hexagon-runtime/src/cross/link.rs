//! Objects to the shared object the phone loads.

use std::path::{Path, PathBuf};
use std::process::Command;

use kernel_gen::Arch;

use super::compile::run;
use super::{CrossError, Toolchain, ToolchainKind};

/// Links `objects` to `libpermafrost-vNN.so` in `folder`. What the phone's runtime has stays undefined.
///
/// # Errors
/// [`CrossError::Refused`] with the linker's text.
pub fn link(tools: &Toolchain, arch: Arch, folder: &Path, objects: &[PathBuf]) -> Result<PathBuf, CrossError> {
    let name = format!("libpermafrost-v{}.so", arch.number());
    let library = folder.join(&name);
    let mut linker = Command::new(&tools.linker);
    match tools.kind {
        // lld itself: the driver hands it flags it does not know.
        ToolchainKind::Llvm => linker.args(["-m", "hexagonelf", "-shared", "-Bsymbolic", "-soname", &name]),
        ToolchainKind::Sdk => linker.args([
            &format!("-mv{}", arch.number()),
            "-G0",
            "-shared",
            "-fPIC",
            "-Wl,-Bsymbolic",
            &format!("-Wl,-soname,{name}"),
        ]),
    };
    linker.arg("-o").arg(&library).args(objects);
    run(&mut linker)?;
    Ok(library)
}
