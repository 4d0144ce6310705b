//! A weight file that is read by position.
//!
//! Positional reads instead of a memory map: a file cut short while it is open then gives a short
//! read and a typed error, where a mapped page would kill the process with SIGBUS; nothing stays
//! resident after a read; and there is no `unsafe`.

use super::ModelError;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes moved by one read of a stream.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// An open file whose length was noted when it was checked.
pub(crate) struct SourceFile {
    file: File,
    len: u64,
    modified: Option<SystemTime>,
    path: PathBuf,
}

impl SourceFile {
    /// Opens a regular file and notes its length.
    pub(crate) fn open(path: &Path) -> Result<SourceFile, ModelError> {
        let failed = |source| ModelError::read(path, source);
        let file = File::open(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => ModelError::Missing { path: path.into() },
            _ => failed(source),
        })?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(ModelError::NotAFile { path: path.into() });
        }
        Ok(SourceFile { file, len: metadata.len(), modified: metadata.modified().ok(), path: path.into() })
    }

    /// Length in bytes when the file was opened.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file was written to since it was opened, by its length and time, as far as the system tells.
    pub(crate) fn touched(&self) -> bool {
        let now = self.file.metadata().ok().map(|metadata| (metadata.len(), metadata.modified().ok()));
        now != Some((self.len, self.modified))
    }

    /// Where the file lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Fills `out` from `offset`; an error when the file's length is no longer the one that was
    /// checked.
    pub(crate) fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<(), ModelError> {
        let now = self.file.metadata().map_err(|source| ModelError::read(&self.path, source))?.len();
        if now != self.len {
            return Err(self.changed(now));
        }
        read_exact_at(&self.file, out, offset).map_err(|source| match source.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                self.changed(self.file.metadata().map_or(0, |metadata| metadata.len()))
            }
            _ => ModelError::read(&self.path, source),
        })
    }

    /// Hands `bytes` bytes from `offset` to `take` in pieces whose size is a multiple of `unit`
    /// (the last piece too, if `bytes` is).
    pub(crate) fn stream(
        &self,
        offset: u64,
        bytes: usize,
        unit: usize,
        mut take: impl FnMut(&[u8]) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let piece = (CHUNK_BYTES / unit).max(1) * unit;
        let mut buffer = vec![0; piece.min(bytes)];
        let mut done = 0;
        while done < bytes {
            let part = &mut buffer[..piece.min(bytes - done)];
            self.read_at(offset + done as u64, part)?;
            take(part)?;
            done += part.len();
        }
        Ok(())
    }

    fn changed(&self, now: u64) -> ModelError {
        ModelError::Changed { path: self.path.clone(), before: self.len, now }
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, out: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut out: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, offset)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => {
                out = &mut out[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}
