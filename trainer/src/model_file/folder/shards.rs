//! Which `.safetensors` files a folder's weights lie in.

use super::safetensors_file::SafetensorsFile;
use super::side_file;
use crate::model_file::ModelError;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

const INDEX: &str = "model.safetensors.index.json";
const SINGLE: &str = "model.safetensors";

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// Opens the weight files of a folder and says which of them holds which tensor.
pub(super) fn open(folder: &Path) -> Result<(Vec<SafetensorsFile>, BTreeMap<String, usize>), ModelError> {
    let single = folder.join(SINGLE);
    let index_path = folder.join(INDEX);
    let index: Option<Index> = if single.exists() { None } else { side_file::parse(&index_path)? };
    let Some(index) = index else {
        let file = SafetensorsFile::open(&single)?;
        let places = file.header.offset_keys().into_iter().map(|name| (name, 0));
        let places = places.collect();
        return Ok((vec![file], places));
    };

    let broken = |problem: String| ModelError::ShardIndex { path: index_path.clone(), problem };
    let names: BTreeSet<&String> = index.weight_map.values().collect();
    let names: Vec<&String> = names.into_iter().collect();
    let mut files = Vec::new();
    for name in &names {
        let mut parts = Path::new(name.as_str()).components();
        let inside = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        if !inside {
            return Err(broken(format!(
                "names the shard `{name}`, which is not a file of this folder; do not use this model"
            )));
        }
        let path = folder.join(name);
        if !path.exists() {
            return Err(broken(format!("shard `{name}` is missing; fetch the whole model")));
        }
        files.push(SafetensorsFile::open(&path)?);
    }
    let mut places = BTreeMap::new();
    for (tensor, shard) in &index.weight_map {
        let place = names.partition_point(|name| *name < shard);
        if files[place].header.info(tensor).is_none() {
            return Err(broken(format!(
                "tensor `{tensor}` is not in shard `{shard}` as the index says; fetch the model again"
            )));
        }
        places.insert(tensor.clone(), place);
    }
    Ok((files, places))
}
