//! The Permafrost sources a command needs where it runs.

use std::fs;
use std::path::{Path, PathBuf};

use super::KernelError;

/// The folder of the sources: `given`, or that this program was built from.
pub(super) fn find(given: Option<PathBuf>) -> Result<PathBuf, KernelError> {
    resolve(given, Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("")))
}

/// A program may run where `built_from` is not, or not any more.
fn resolve(given: Option<PathBuf>, built_from: &Path) -> Result<PathBuf, KernelError> {
    match given {
        Some(path) => complete(&path).ok_or(KernelError::Sources { path }),
        None => complete(built_from).ok_or_else(|| KernelError::BuiltFrom { path: built_from.to_path_buf() }),
    }
}

fn complete(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let parts = ["kernel-gen/Cargo.toml", "kernel-gen/device/device.h", "verify/Cargo.toml"];
    parts.iter().all(|part| folder.join(part).is_file()).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_are_gone_are_said_to_be_and_never_named() {
        let folder = tempfile::tempdir().unwrap();
        for built_from in [folder.path(), &folder.path().join("gone")] {
            let error = resolve(None, built_from).unwrap_err().to_string();
            assert!(error.contains(&format!("built from {}", built_from.display())), "{error}");
            assert!(error.contains("--permafrost"), "{error}");
        }
    }

    #[test]
    fn a_folder_that_was_given_goes_before_the_one_that_is_gone() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let gone = here.join("gone");
        assert_eq!(resolve(Some(here.clone()), &gone).unwrap(), fs::canonicalize(&here).unwrap());
        let error = resolve(Some(gone.clone()), &here).unwrap_err().to_string();
        assert!(error.contains(&format!("{} holds no Permafrost sources", gone.display())), "{error}");
    }
}
