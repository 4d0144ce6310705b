//! Where cached weights lie.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::demo::cache_folder;

/// Hex digits of the identity in a file's name; the whole of it is inside.
const NAME_DIGITS: usize = 16;

/// Where quantised weights are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WeightCachePlace {
    /// Beside the checkpoint, or in the user's cache folder if that cannot be written to.
    #[default]
    Beside,
    /// In this folder.
    In(PathBuf),
    /// Nowhere.
    Off,
}

impl FromStr for WeightCachePlace {
    type Err = Infallible;

    /// `off`, or a folder.
    fn from_str(text: &str) -> Result<WeightCachePlace, Infallible> {
        Ok(if text == "off" { WeightCachePlace::Off } else { WeightCachePlace::In(text.into()) })
    }
}

impl WeightCachePlace {
    /// Files that may hold the weights of a checkpoint, the preferred one first.
    pub(super) fn paths(&self, model: &Path, identity: &str) -> Vec<PathBuf> {
        // The name of what `.` or a link stands for.
        let model = model.canonicalize().unwrap_or_else(|_| model.to_owned());
        let stem = model.file_name().unwrap_or("model".as_ref()).to_string_lossy();
        let name = format!("{stem}.{}.q8tiles", &identity[..NAME_DIGITS]);
        let folders = match self {
            WeightCachePlace::Off => Vec::new(),
            WeightCachePlace::In(folder) => vec![folder.clone()],
            WeightCachePlace::Beside => {
                let user = cache_folder().map(|folder| folder.join("weights"));
                model.parent().map(Path::to_owned).into_iter().chain(user).collect()
            }
        };
        folders.into_iter().map(|folder| folder.join(&name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_a_file_have_their_cache_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("model")).unwrap();
        let identity = "0123456789abcdef0123";
        for path in [root.join("model"), root.join("model/../model/")] {
            let paths = WeightCachePlace::Beside.paths(&path, identity);
            assert_eq!(paths[0], root.join("model.0123456789abcdef.q8tiles"));
        }
        let other = "elsewhere".parse::<WeightCachePlace>().unwrap();
        assert_eq!(
            other.paths(&root.join("m.gguf"), identity),
            [Path::new("elsewhere/m.gguf.0123456789abcdef.q8tiles")]
        );
        assert_eq!("off".parse(), Ok(WeightCachePlace::Off));
    }
}
