//! NaN and infinity among weights are reported, never trained on.

use super::ModelError;

/// Errors with the tensor's name and the flat index of the first value that is not finite; `first` is that of `values[0]`.
pub(crate) fn check_finite(name: &str, first: usize, values: &[f32]) -> Result<(), ModelError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(ModelError::NotFinite { name: name.into(), index: first + index, value: values[index] }),
        None => Ok(()),
    }
}
