//! States of the recurrent layers at the ends of earlier calls.

use super::path::Path;
use crate::nodes::DeltaState;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct States {
    /// By number of rows when they were kept.
    kept: BTreeMap<usize, KeptStates>,
}

pub(super) struct KeptStates {
    pub path: Path,
    /// By layer.
    pub layers: BTreeMap<usize, DeltaState>,
    pinned: bool,
}

impl States {
    pub fn pin(&mut self, rows: usize) {
        if let Some(kept) = self.kept.get_mut(&rows) {
            kept.pinned = true;
        }
    }

    pub fn truncate(&mut self, rows: usize) {
        self.kept.retain(|end, _| *end <= rows);
    }

    /// The states that `path` leads to, if they were kept.
    pub fn at(&self, path: &Path) -> Option<&KeptStates> {
        self.kept.get(&path.end()?).filter(|kept| kept.path == *path)
    }

    /// Keeps the states of a call's last segment; those of earlier calls go, unless they are pinned.
    pub fn replace(&mut self, rows: usize, path: Path, layers: BTreeMap<usize, DeltaState>) {
        self.kept.retain(|_, kept| kept.pinned);
        self.kept.insert(rows, KeptStates { path, layers, pinned: false });
    }
}
