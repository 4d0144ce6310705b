//! A functional model compiled elsewhere: the only file that opens a shared object.

use std::hash::{Hash, Hasher};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::{RuntimeError, abi};

/// The symbol such a shared object exports: it is compiled with `-DPF_VARIANT=loaded`.
const SYMBOL: &[u8] = b"pf_model_loaded";

/// A loaded model. It stays loaded until the process ends, because devices hold its functions.
#[derive(Clone, Copy, Debug)]
pub struct LoadedModel(&'static abi::pf_model_table);

impl LoadedModel {
    /// Loads a shared object that holds emitted kernels and the device library. Its code runs in this process: load only
    /// what you compiled.
    ///
    /// # Errors
    /// [`RuntimeError::KernelLibrary`] with the loader's reason.
    pub fn open(path: &Path) -> Result<LoadedModel, RuntimeError> {
        let refused = |reason: libloading::Error| RuntimeError::KernelLibrary {
            path: path.to_path_buf(),
            reason: reason.to_string(),
        };
        // Names are bound now, so that a function nobody has is an error here and not the end of the process at its first call.
        // SAFETY: the caller vouches for the file; a kernel library has no constructors.
        let opened = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = Box::leak(Box::new(opened.map_err(refused)?));
        // SAFETY: the symbol is a constant `struct pf_model_table` of this ABI by its name; the library is never unloaded.
        let table = unsafe { library.get::<*const abi::pf_model_table>(SYMBOL) }.map_err(refused)?;
        // SAFETY: as above; a symbol's address is never null.
        Ok(LoadedModel(unsafe { &**table }))
    }

    pub(super) fn table(self) -> &'static abi::pf_model_table {
        self.0
    }
}

impl PartialEq for LoadedModel {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for LoadedModel {}

impl Hash for LoadedModel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
    }
}
