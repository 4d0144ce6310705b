//! A forward reader of the header that never trusts a length.

use super::GgufError;
use crate::model_file::ModelError;
use crate::model_file::source_file::SourceFile;

const WINDOW_BYTES: u64 = 64 * 1024;

/// Reads little-endian values in order. Every request is held against the bytes left in the file
/// before a byte is allocated or read.
pub(super) struct Cursor<'a> {
    file: &'a SourceFile,
    position: u64,
    window: Vec<u8>,
    window_start: u64,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(file: &'a SourceFile) -> Cursor<'a> {
        Cursor { file, position: 0, window: Vec::new(), window_start: 0 }
    }

    /// Offset of the next byte.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Bytes between here and the end of the file.
    pub(super) fn left(&self) -> u64 {
        self.file.len() - self.position
    }

    /// Wraps a broken rule with the file's path.
    pub(super) fn fail(&self, source: GgufError) -> ModelError {
        ModelError::Gguf { path: self.file.path().into(), source }
    }

    fn need(&self, bytes: u64, what: &str) -> Result<(), ModelError> {
        if bytes > self.left() {
            return Err(self.fail(GgufError::Truncated { what: what.into(), len: self.file.len() }));
        }
        Ok(())
    }

    /// Moves on without reading.
    pub(super) fn skip(&mut self, bytes: u64, what: &str) -> Result<(), ModelError> {
        self.need(bytes, what)?;
        self.position += bytes;
        Ok(())
    }

    /// Fills `out` with the next bytes.
    pub(super) fn bytes(&mut self, out: &mut [u8], what: &str) -> Result<(), ModelError> {
        self.need(out.len() as u64, what)?;
        if out.len() as u64 > WINDOW_BYTES {
            self.file.read_at(self.position, out)?;
        } else {
            let window_end = self.window_start + self.window.len() as u64;
            let end = self.position + out.len() as u64;
            if self.position < self.window_start || end > window_end {
                self.window.resize(self.left().min(WINDOW_BYTES) as usize, 0);
                self.file.read_at(self.position, &mut self.window)?;
                self.window_start = self.position;
            }
            let start = (self.position - self.window_start) as usize;
            out.copy_from_slice(&self.window[start..start + out.len()]);
        }
        self.position += out.len() as u64;
        Ok(())
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ModelError> {
        let mut out = [0; N];
        self.bytes(&mut out, what)?;
        Ok(out)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, ModelError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, ModelError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// A count of entries of at least `smallest` bytes each, refused when the file cannot hold them.
    pub(super) fn count(&mut self, smallest: u64, what: &str) -> Result<u64, ModelError> {
        let count = self.u64(what)?;
        if count > self.left() / smallest {
            return Err(self.fail(GgufError::Count { what: what.into(), count, left: self.left() }));
        }
        Ok(count)
    }

    /// A length-prefixed UTF-8 string.
    pub(super) fn string(&mut self, what: &str) -> Result<String, ModelError> {
        let len = self.count(1, what)?;
        let mut bytes = vec![0; len as usize];
        self.bytes(&mut bytes, what)?;
        String::from_utf8(bytes)
            .map_err(|_| self.fail(GgufError::Name { what: what.into(), problem: "not valid UTF-8".into() }))
    }

    /// A string that names something: 1 to `longest` bytes.
    pub(super) fn name(&mut self, longest: u64, what: &str) -> Result<String, ModelError> {
        let name = self.string(what)?;
        let problem = if name.is_empty() {
            "the name is empty".to_string()
        } else if name.len() as u64 > longest {
            format!("the name has {} bytes, at most {longest} are allowed", name.len())
        } else {
            return Ok(name);
        };
        Err(self.fail(GgufError::Name { what: what.into(), problem }))
    }
}
