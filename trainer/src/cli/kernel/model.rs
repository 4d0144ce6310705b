//! The functional model a kernel runs on.

use hexagon_runtime::device::{Compiled, LoadedModel, Variant};
use kernel_gen::{Verified, library};

use super::KernelError;

/// A model that knows one kernel at least.
pub(super) struct Model {
    pub variant: Variant,
    // Loaded from this file.
    _compiled: Option<Compiled>,
}

impl Model {
    /// The model this program is built with, or for a kernel that is not in it one compiled now, which needs gcc.
    pub fn of(kernel: &Verified, checked: bool) -> Result<Model, KernelError> {
        let name = &kernel.kernel().name;
        if library::all().iter().any(|built| built.name == *name) {
            return Ok(Model { variant: Variant::select(checked), _compiled: None });
        }
        let compiled = Compiled::new(std::slice::from_ref(kernel), checked)?;
        let variant = Variant::Loaded(LoadedModel::open(&compiled.path())?);
        Ok(Model { variant, _compiled: Some(compiled) })
    }
}
