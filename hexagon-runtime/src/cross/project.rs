//! The C project of a library: emitted kernels, device layer, the module around them and the files to build it with.

use std::fs;
use std::path::{Path, PathBuf};

use kernel_gen::{Verified, device_dir, device_files, emit_library};

use super::CrossError;

/// The C files to compile.
pub const UNITS: [&str; 2] = ["module.c", "skel.c"];

/// Files of the project that are the same for all kernels.
const FILES: [(&str, &str); 13] = [
    ("CMakeLists.txt", include_str!("../../dsp/CMakeLists.txt")),
    ("Makefile", include_str!("../../dsp/Makefile")),
    ("dispatch.h", include_str!("../../dsp/dispatch.h")),
    ("module.c", include_str!("../../dsp/module.c")),
    ("module.h", include_str!("../../dsp/module.h")),
    ("permafrost.idl", include_str!("../../dsp/permafrost.idl")),
    ("power.h", include_str!("../../dsp/power.h")),
    ("resource.h", include_str!("../../dsp/resource.h")),
    ("server.h", include_str!("../../dsp/server.h")),
    ("session.h", include_str!("../../dsp/session.h")),
    ("skel.c", include_str!("../../dsp/skel.c")),
    ("vendor_symbols.txt", include_str!("../../dsp/vendor_symbols.txt")),
    ("wire.h", include_str!("../../dsp/wire.h")),
];

/// A project on disk.
#[derive(Debug)]
pub struct Project {
    /// Where it is.
    pub folder: PathBuf,
    /// Its files.
    pub files: Vec<PathBuf>,
}

impl Project {
    /// Writes the project of `kernels` to `folder`, which is new, empty, or has an earlier project in it.
    ///
    /// # Errors
    /// [`CrossError::Occupied`], or [`CrossError::Io`].
    pub fn write(kernels: &[Verified], folder: &Path) -> Result<Project, CrossError> {
        let occupied = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        if occupied && !folder.join("module.c").is_file() {
            return Err(CrossError::Occupied { path: folder.to_path_buf() });
        }
        let device = folder.join("device");
        fs::create_dir_all(&device).map_err(|source| CrossError::Io { path: device.clone(), source })?;
        let mut files = Vec::new();
        let headers = device_files().map_err(|source| CrossError::Io { path: device_dir(), source })?;
        for from in headers {
            let to = device.join(from.file_name().unwrap_or_default());
            fs::copy(&from, &to).map_err(|source| CrossError::Io { path: to.clone(), source })?;
            files.push(to);
        }
        let library = emit_library(kernels);
        for (name, text) in FILES.into_iter().chain([("permafrost_kernels.c", library.as_str())]) {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|source| CrossError::Io { path: path.clone(), source })?;
            files.push(path);
        }
        Ok(Project { folder: folder.to_path_buf(), files })
    }
}
