//! The folder that keeps what was downloaded.

use std::env;
use std::path::PathBuf;

/// `$XDG_CACHE_HOME/permafrost`, or `~/.cache/permafrost`; nothing when neither variable is set.
pub fn cache_folder() -> Option<PathBuf> {
    let filled = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The XDG rule: a relative path there is invalid and must be ignored.
    let cache = filled("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    cache.or_else(|| filled("HOME").map(|home| home.join(".cache"))).map(|folder| folder.join("permafrost"))
}
