//! Holds the tensors of a file against the configuration.

use super::{ModelError, TensorSource};
use crate::registry::ModelConfig;
use std::collections::HashSet;

impl ModelConfig {
    /// Each tensor there, each of its shape, and none that the network has no place for.
    pub(crate) fn check_tensors(&self, tensors: &dyn TensorSource) -> Result<(), ModelError> {
        let mut placed = HashSet::new();
        for (name, expected) in self.tensor_shapes() {
            match tensors.shape(&name) {
                None => return Err(ModelError::TensorMissing { name }),
                Some(found) if found != expected => {
                    return Err(ModelError::TensorShape { name, expected, found });
                }
                Some(_) => placed.insert(name),
            };
        }
        match tensors.names().into_iter().find(|name| !placed.contains(name)) {
            Some(name) => {
                Err(ModelError::TensorUnexpected { name, architecture: self.architecture.description().name })
            }
            None => Ok(()),
        }
    }
}
