//! What a kernel command can end with.

use std::io;
use std::path::PathBuf;

use hexagon_runtime::RuntimeError;
use hexagon_runtime::device::{CompileError, DeviceFault};
use kernel_gen::PlanError;
use kernel_gen::ddr::UnknownLayout;
use kernel_gen::ir::ReferenceError;

/// A kernel command that could not do its work, or found something wrong.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum KernelError {
    /// No such kernel.
    #[error(
        "there is no library kernel `{name}`: take one of {known}. This program knows no others: `cargo test` in the crate of a \
         kernel of your own checks it"
    )]
    Unknown {
        /// Name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// `diff` of a kernel and itself.
    #[error("`diff {kernel}` compares the kernel with itself: name another kernel, or give --other-tiles NAME=VALUE,…")]
    NothingToCompare {
        /// Kernel.
        kernel: String,
    },
    /// Operands larger than memory.
    #[error(
        "`{kernel}` of this shape needs {needed} bytes for its operands and its reference, {available} bytes are available: \
         give a smaller --shape, or free memory. `explain` plans it without operands"
    )]
    Memory {
        /// Kernel.
        kernel: String,
        /// Bytes the run would take.
        needed: u128,
        /// Bytes there are.
        available: u64,
    },
    /// A kernel that breaks rules.
    #[error("kernel `{kernel}` breaks rules:\n{diagnostics}")]
    Rules {
        /// Kernel.
        kernel: String,
        /// What the verifier says.
        diagnostics: String,
    },
    /// A `--tiles` entry that names nothing.
    #[error("kernel `{kernel}` has no tunable `{tunable}`: take {known}, as in --tiles {known}")]
    Tunable {
        /// Kernel.
        kernel: String,
        /// Name given.
        tunable: String,
        /// `name=value` of the plan.
        known: String,
    },
    /// A tile size given more than once.
    #[error("tile size `{tunable}` is given twice: give each once, as in --tiles mc=32,nc=64")]
    Repeated {
        /// Its name.
        tunable: String,
    },
    /// A name a kernel cannot have.
    #[error("`{name}` cannot name a kernel: {problem}")]
    Name {
        /// Name given.
        name: String,
        /// Why, and what to take.
        problem: String,
    },
    /// The folder of a new crate is not empty.
    #[error("{} is there already: name a new folder, or remove it", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A file of other content where a file is to be written.
    #[error("{} is there already and differs from what would be written: give another folder with --out, or --force to \
             overwrite", path.display())]
    Differs {
        /// The file.
        path: PathBuf,
    },
    /// No Permafrost sources where they were said to be.
    #[error("{} holds no Permafrost sources (kernel-gen and verify): give the folder of a checkout with --permafrost", path.display())]
    Sources {
        /// The folder.
        path: PathBuf,
    },
    /// The sources this program was built from are gone.
    #[error(
        "this program was built from {}, where the Permafrost sources are no longer: give the folder of a checkout with \
         --permafrost",
        path.display()
    )]
    BuiltFrom {
        /// The folder.
        path: PathBuf,
    },
    /// Sources in a folder a manifest cannot name.
    #[error("{} is no UTF-8 and cannot stand in a Cargo.toml: move the Permafrost sources to another folder", path.display())]
    NoText {
        /// The folder.
        path: PathBuf,
    },
    /// Results outside the tolerance.
    #[error("kernel `{kernel}`: {outside} of {compared} outputs compared are outside the tolerance")]
    Wrong {
        /// Kernel.
        kernel: String,
        /// Outputs outside.
        outside: usize,
        /// Outputs compared.
        compared: usize,
    },
    /// The device stopped.
    #[error("{fault}")]
    Device {
        /// Why.
        fault: DeviceFault,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}. Check the path, its permissions and the free space", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    #[error(transparent)]
    Compile(#[from] CompileError),
    #[error(transparent)]
    Cross(#[from] hexagon_runtime::cross::CrossError),
    #[error(transparent)]
    Layout(#[from] UnknownLayout),
    #[error(transparent)]
    Plan(Box<PlanError>),
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

impl From<DeviceFault> for KernelError {
    fn from(fault: DeviceFault) -> KernelError {
        KernelError::Device { fault }
    }
}

impl From<PlanError> for KernelError {
    fn from(error: PlanError) -> KernelError {
        KernelError::Plan(Box::new(error))
    }
}
