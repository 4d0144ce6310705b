//! The file a timeline goes to; its ending says the form.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{Span, chrome, html, svg};

/// A file for a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineFile {
    path: PathBuf,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Svg,
    Html,
    Chrome,
}

/// A timeline that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum TimelineError {
    /// An ending that says no form.
    #[error("`{path}` does not say its form: end it in .svg (picture), .html (page) or .json (Chrome trace)")]
    Ending {
        /// What was given.
        path: String,
    },
    /// The operating system refused.
    #[error("{}: {source}. The run itself is saved; check the path and the free space", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl FromStr for TimelineFile {
    type Err = TimelineError;

    fn from_str(text: &str) -> Result<TimelineFile, TimelineError> {
        let path = Path::new(text);
        let form = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Form::Svg,
            Some("html") => Form::Html,
            Some("json") => Form::Chrome,
            _ => return Err(TimelineError::Ending { path: text.to_owned() }),
        };
        Ok(TimelineFile { path: path.into(), form })
    }
}

impl TimelineFile {
    /// Where it goes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `spans` under a title.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, title: &str, spans: &[Span]) -> Result<(), TimelineError> {
        let failed = |source| TimelineError::Io { path: self.path.clone(), source };
        let text = match self.form {
            Form::Svg => svg::draw(title, spans),
            Form::Html => html::page(title, spans),
            Form::Chrome => chrome::trace(spans).map_err(|error| failed(error.into()))?,
        };
        fs::write(&self.path, text).map_err(failed)
    }
}
