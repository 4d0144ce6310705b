//! Wrong cases as files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::{CrossCheckError, Trial};

/// A case that was wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseFile {
    /// Kernel.
    pub kernel: String,
    /// The case.
    pub trial: Trial,
    /// What was wrong when it was saved.
    pub wrong: String,
}

impl CaseFile {
    /// Reads a file that must be a case of `kernel`.
    ///
    /// # Errors
    /// [`CrossCheckError::CaseFile`].
    pub fn read(path: &Path, kernel: &str) -> Result<CaseFile, CrossCheckError> {
        let refuse = |reason: String| CrossCheckError::CaseFile { path: path.to_path_buf(), reason };
        let text = fs::read_to_string(path).map_err(|e| refuse(format!("{e}; give the path of a saved case")))?;
        let case: CaseFile =
            serde_json::from_str(&text).map_err(|e| refuse(format!("{e}; it is not a case of this version")))?;
        if case.kernel != kernel {
            return Err(refuse(format!("it is a case of kernel `{}`, not of `{kernel}`", case.kernel)));
        }
        Ok(case)
    }

    /// Saves it under a name of kernel and content; returns the path.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn save(&self, folder: &Path) -> io::Result<PathBuf> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::create_dir_all(folder)?;
        let folder = fs::canonicalize(folder)?;
        let path = folder.join(format!("{}-{:08x}.json", self.kernel, kernel_gen::fnv1a_32(text.as_bytes())));
        fs::write(&path, text)?;
        Ok(path)
    }
}
