//! Where the C device library is, for a build script that compiles emitted C against it.

use std::path::{Path, PathBuf};

/// The folder of the device headers (`device.h`, `abi.h`, …).
pub fn device_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("device")
}

/// Every file of the device library, sorted, so that a build script can name each as an input.
///
/// # Errors
/// The folder cannot be read.
pub fn device_files() -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(device_dir())? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
