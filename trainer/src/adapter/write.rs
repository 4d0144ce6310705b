//! Writes a folder's files so that a crash or a full disk leaves the old ones or the new ones.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// Puts `files` in `folder`. A new folder appears under its name only once it is complete; in an
/// existing one every file is first written beside the old one, then they are renamed in order.
pub(super) fn replace_folder(folder: &Path, files: &[(&str, Vec<u8>)]) -> io::Result<()> {
    let parent = folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    if folder.exists() {
        let staged = files.iter().map(|(name, bytes)| Ok((*name, stage(folder, bytes)?)));
        for (name, file) in staged.collect::<io::Result<Vec<_>>>()? {
            file.persist(folder.join(name)).map_err(|e| e.error)?;
        }
        return sync_folder(folder);
    }
    let staging = Builder::new().prefix(".adapter-").tempdir_in(parent)?;
    for (name, bytes) in files {
        stage(staging.path(), bytes)?.persist(staging.path().join(name)).map_err(|e| e.error)?;
    }
    sync_folder(staging.path())?;
    open_to_all(staging.path(), 0o755)?;
    fs::rename(staging.path(), folder)?;
    // The folder has moved: there is nothing left to clean up.
    let _ = staging.keep();
    sync_folder(parent)
}

fn stage(folder: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    open_to_all(file.path(), 0o644)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Temporary files are private to their owner; what replaces a normal file should not be.
#[cfg(unix)]
fn open_to_all(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn open_to_all(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
