//! PEFT adapter folders: `adapter_config.json` and `adapter_model.safetensors`.

use super::layout::{Adapter, ProjectionShape};
use super::write::replace_folder;
use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

const CONFIG: &str = "adapter_config.json";
const WEIGHTS: &str = "adapter_model.safetensors";
const PREFIX: &str = "base_model.model.";
/// Our own field beside PEFT's, which PEFT passes over.
const FINGERPRINT: &str = "base_model_fingerprint";

/// The base model an adapter belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseModel {
    /// Name or path, for people.
    pub name: String,
    /// SHA-256 over the model's tensors.
    pub fingerprint: String,
}

/// An adapter that cannot be made, read or written, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// A setting no adapter can have.
    #[error("{what} makes no adapter: rank and alpha must be positive numbers, dropout at least 0 and below 1")]
    Setting {
        /// What was asked for.
        what: String,
    },
    /// A target the model has not.
    #[error("the model has no projection `{target}`; it has {known}")]
    UnknownTarget {
        /// The name asked for.
        target: String,
        /// What there is.
        known: String,
    },
    /// A flag contradicts the adapter to start from.
    #[error("--{flag} {asked} contradicts the adapter in {}, whose {flag} is {found}: leave --{flag} out", folder.display())]
    Conflict {
        /// Name of the flag.
        flag: &'static str,
        /// Its value.
        asked: String,
        /// The adapter's.
        found: String,
        /// The adapter.
        folder: PathBuf,
    },
    /// A file cannot be read.
    #[error("{}: {source}; an adapter is a folder with {CONFIG} and {WEIGHTS}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what PEFT writes.
    #[error("{}: {what}: save the adapter again with PEFT or permafrost", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A kind of adapter this program does not compute.
    #[error("{}: {what} is not supported: use plain LoRA with one rank and one alpha", path.display())]
    Unsupported {
        /// The configuration.
        path: PathBuf,
        /// The setting.
        what: String,
    },
    /// A tensor for a projection the base has not.
    #[error(
        "adapter tensor `{tensor}` {shape:?} has no place in this base model: the adapter was made for another base"
    )]
    NoPlace {
        /// Name in the file.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// A tensor does not fit the base.
    #[error(
        "adapter tensor `{tensor}` is {found:?}, this base model needs {expected:?}: the adapter was made for another base"
    )]
    Shape {
        /// Name in the file.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// Shape that would fit.
        expected: Vec<usize>,
    },
    /// Same shapes, other base weights.
    #[error(
        "the adapter in {} was trained on `{base}` (fingerprint {found}), this base has fingerprint {expected}: \
         open it with the base it was trained on", folder.display()
    )]
    OtherBase {
        /// The adapter.
        folder: PathBuf,
        /// The base it names.
        base: String,
        /// Fingerprint of that base.
        found: String,
        /// Fingerprint of the base at hand.
        expected: String,
    },
    /// Saving failed.
    #[error(
        "saving the adapter to {} failed: {source}; nothing was lost, what was saved there before is unchanged: \
         free some space or choose another --out, then run again", folder.display()
    )]
    Write {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Adapter {
    /// Reads a PEFT folder for a base model with these projections. Dropout is that of the file.
    ///
    /// # Errors
    /// Unreadable or damaged files, another kind of adapter, tensors that do not fit, another base.
    pub fn load(folder: &Path, projections: &[ProjectionShape], base: &BaseModel) -> Result<Adapter, AdapterError> {
        let path = folder.join(CONFIG);
        let text = read(&path)?;
        let config: Value = serde_json::from_slice(&text)
            .map_err(|e| AdapterError::Damaged { path: path.clone(), what: e.to_string() })?;
        let (rank, alpha, dropout) = check_config(&path, &config)?;

        let path = folder.join(WEIGHTS);
        let bytes = read(&path)?;
        let tensors = SafeTensors::deserialize(&bytes)
            .map_err(|e| AdapterError::Damaged { path: path.clone(), what: e.to_string() })?;
        let adapter = fill(&path, &tensors, projections, rank, alpha, dropout)?;

        match config.get(FINGERPRINT).and_then(Value::as_str) {
            Some(found) if found != base.fingerprint => Err(AdapterError::OtherBase {
                folder: folder.to_owned(),
                base: config.get("base_model_name_or_path").and_then(Value::as_str).unwrap_or("?").to_owned(),
                found: found.to_owned(),
                expected: base.fingerprint.clone(),
            }),
            _ => Ok(adapter),
        }
    }

    /// Writes a PEFT folder: all or nothing, so that a full disk leaves what was there before.
    ///
    /// # Errors
    /// What the file system says.
    pub fn save(&self, folder: &Path, base: &BaseModel) -> Result<(), AdapterError> {
        let config = serde_json::to_vec_pretty(&self.config(base)).map_err(io::Error::from);
        let weights = self.weights().map_err(io::Error::other);
        let written = config.and_then(|config| {
            let files = [(CONFIG, config), (WEIGHTS, weights?)];
            replace_folder(folder, &files)
        });
        written.map_err(|source| AdapterError::Write { folder: folder.to_owned(), source })
    }

    fn config(&self, base: &BaseModel) -> Value {
        json!({
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "base_model_name_or_path": base.name,
            FINGERPRINT: base.fingerprint,
            "r": self.rank,
            "lora_alpha": number(self.alpha),
            "lora_dropout": number(self.dropout),
            "target_modules": self.target_modules(),
            "bias": "none",
            "fan_in_fan_out": false,
            "inference_mode": true,
            "init_lora_weights": true,
            "modules_to_save": null,
            "use_dora": false,
            "use_rslora": false,
            "rank_pattern": {},
            "alpha_pattern": {},
        })
    }

    fn weights(&self) -> Result<Vec<u8>, safetensors::SafeTensorError> {
        let mut bytes = BTreeMap::new();
        for pair in self.pairs() {
            let (shape, rank) = (&pair.shape, self.rank);
            let mut put = |part: &str, shape_of: Vec<usize>, values: &[f32]| {
                let name = format!("{PREFIX}{}.lora_{part}.weight", shape.name);
                let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                bytes.insert(name, (shape_of, raw));
            };
            put("A", vec![rank, shape.input], &self.values[pair.a.clone()]);
            put("B", vec![shape.out, rank], &self.values[pair.b.clone()]);
        }
        let views =
            bytes.iter().map(|(name, (shape, raw))| Ok((name, TensorView::new(Dtype::F32, shape.clone(), raw)?)));
        let views = views.collect::<Result<Vec<_>, safetensors::SafeTensorError>>()?;
        safetensors::serialize(views, Some([("format".to_owned(), "pt".to_owned())].into()))
    }
}

/// Whole numbers without a fraction, as PEFT writes them.
fn number(value: f32) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e9 && value != 0.0 {
        json!(value as i64)
    } else {
        json!(f64::from(value))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, AdapterError> {
    std::fs::read(path).map_err(|source| AdapterError::Read { path: path.to_owned(), source })
}

/// Refuses what would be computed wrongly; gives rank, alpha and dropout.
fn check_config(path: &Path, config: &Value) -> Result<(usize, f32, f32), AdapterError> {
    let unsupported = |what: String| Err(AdapterError::Unsupported { path: path.to_owned(), what });
    let damaged = |what: &str| AdapterError::Damaged { path: path.to_owned(), what: what.to_owned() };
    match config.get("peft_type").and_then(Value::as_str) {
        Some("LORA") => {}
        other => return unsupported(format!("peft_type {}", other.unwrap_or("(none)"))),
    }
    if let Some(bias) = config.get("bias").and_then(Value::as_str).filter(|bias| *bias != "none") {
        return unsupported(format!("bias \"{bias}\""));
    }
    let plain = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    };
    let switches = [
        "use_dora",
        "use_rslora",
        "use_qalora",
        "use_bdlora",
        "lora_bias",
        "fan_in_fan_out",
        "rank_pattern",
        "alpha_pattern",
        "modules_to_save",
        "layer_replication",
        "trainable_token_indices",
        "target_parameters",
    ];
    for switch in switches {
        if let Some(value) = config.get(switch).filter(|value| !plain(value)) {
            return unsupported(format!("{switch} = {value}"));
        }
    }
    let rank = config.get("r").and_then(Value::as_u64).filter(|r| (1..=1 << 16).contains(r));
    let rank = rank.ok_or_else(|| damaged("`r` is not a positive number"))?;
    let float = |name: &str| config.get(name).and_then(Value::as_f64).filter(|v| v.is_finite()).map(|v| v as f32);
    let alpha = float("lora_alpha").ok_or_else(|| damaged("`lora_alpha` is not a number"))?;
    let dropout = float("lora_dropout").unwrap_or(0.0);
    if !(0.0..1.0).contains(&dropout) {
        return Err(damaged("`lora_dropout` is not in [0, 1)"));
    }
    Ok((rank as usize, alpha, dropout))
}

/// Builds the adapter from the tensors: which projections it has follows from their names.
fn fill(
    path: &Path,
    tensors: &SafeTensors<'_>,
    projections: &[ProjectionShape],
    rank: usize,
    alpha: f32,
    dropout: f32,
) -> Result<Adapter, AdapterError> {
    let place = |name: &str| {
        // The multimodal class nests the text model one level deeper.
        let name = name.strip_prefix(PREFIX)?.replace("model.language_model.", "model.");
        let (projection, part) = name.rsplit_once(".lora_")?;
        let part = part.strip_suffix(".weight").filter(|part| ["A", "B"].contains(part))?;
        let shape = projections.iter().find(|shape| shape.name == projection)?;
        Some((shape.name.clone(), part == "A"))
    };
    let mut found: BTreeMap<(String, bool), (&str, TensorView<'_>)> = BTreeMap::new();
    for name in tensors.names() {
        let damaged =
            |e: safetensors::SafeTensorError| AdapterError::Damaged { path: path.to_owned(), what: e.to_string() };
        let view = tensors.tensor(name).map_err(damaged)?;
        let key = place(name)
            .ok_or_else(|| AdapterError::NoPlace { tensor: name.to_owned(), shape: view.shape().to_vec() })?;
        found.insert(key, (name, view));
    }
    let adapted = |shape: &&ProjectionShape| found.keys().any(|(name, _)| *name == shape.name);
    let shapes: Vec<ProjectionShape> = projections.iter().filter(adapted).cloned().collect();
    if shapes.is_empty() {
        return Err(AdapterError::Damaged { path: path.to_owned(), what: "the file holds no tensor".into() });
    }
    let mut adapter = Adapter::zeros(shapes, rank, alpha, dropout);
    for pair in adapter.pairs().to_vec() {
        let parts =
            [(true, vec![rank, pair.shape.input], pair.a.clone()), (false, vec![pair.shape.out, rank], pair.b.clone())];
        for (is_a, expected, at) in parts {
            let key = (pair.shape.name.clone(), is_a);
            let part = if is_a { "lora_A" } else { "lora_B" };
            let (tensor, view) = found.get(&key).ok_or_else(|| AdapterError::Damaged {
                path: path.to_owned(),
                what: format!("`{}` has no {part}", pair.shape.name),
            })?;
            if view.shape() != expected {
                let (tensor, found) = ((*tensor).to_owned(), view.shape().to_vec());
                return Err(AdapterError::Shape { tensor, found, expected });
            }
            let values = widen(view).ok_or_else(|| AdapterError::Unsupported {
                path: path.to_owned(),
                what: format!("tensor `{tensor}` of type {:?}", view.dtype()),
            })?;
            if let Some(index) = values.iter().position(|v| !v.is_finite()) {
                let what = format!("tensor `{tensor}` holds {} at element {index}", values[index]);
                return Err(AdapterError::Damaged { path: path.to_owned(), what });
            }
            adapter.values[at].copy_from_slice(&values);
        }
    }
    Ok(adapter)
}

fn widen(view: &TensorView<'_>) -> Option<Vec<f32>> {
    let pairs = || view.data().as_chunks::<2>().0.iter();
    match view.dtype() {
        Dtype::F32 => Some(view.data().as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()),
        Dtype::F16 => Some(pairs().map(|b| f16::from_le_bytes(*b).to_f32()).collect()),
        Dtype::BF16 => Some(pairs().map(|b| bf16::from_le_bytes(*b).to_f32()).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
