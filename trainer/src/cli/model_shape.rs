//! The flags that name a model by its shapes, without weights.

use std::path::PathBuf;

use clap::Args;

use super::error::CliError;
use crate::model_file::read_config;
use crate::registry::{ModelConfig, preset_names};

/// A preset or a configuration file.
#[derive(Args, Clone, Debug)]
pub(super) struct ModelShape {
    /// A published model by name, in upper or lower case; no file is read.
    #[arg(long, help = format!("A published model by name, no file needed: {}", preset_names().join(", ")))]
    pub preset: Option<String>,
    /// A config.json, or the folder that has it; no weights are read.
    #[arg(long, conflicts_with = "preset")]
    pub config: Option<PathBuf>,
}

impl ModelShape {
    /// Its name and its configuration.
    pub fn read(&self) -> Result<(String, ModelConfig), CliError> {
        match (&self.preset, &self.config) {
            (Some(preset), _) => {
                let (name, config) = ModelConfig::preset(preset)?;
                Ok((name.to_owned(), config))
            }
            (None, Some(path)) => Ok((path.display().to_string(), read_config(path)?)),
            (None, None) => Err(CliError::NoShape),
        }
    }
}
