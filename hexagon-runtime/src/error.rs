use crate::Direction;

/// Why the runtime refuses; every text says what to do next.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// A projection with a zero extent.
    #[error(
        "projection {name} has shape {out}x{in_}; both extents must be at least 1: check the model's configuration"
    )]
    EmptyShape {
        /// Projection.
        name: String,
        /// Output features.
        out: usize,
        /// Input features.
        in_: usize,
    },
    /// The weight's length does not match its shape.
    #[error(
        "weight of {name} has {got} {unit}, its shape {out}x{in_} needs {expected}: the model file and its configuration disagree"
    )]
    WeightLength {
        /// Projection.
        name: String,
        /// Output features.
        out: usize,
        /// Input features.
        in_: usize,
        /// Elements or bytes wanted.
        expected: usize,
        /// Elements or bytes given.
        got: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// NaN or Inf in a weight.
    #[error("weight of {name} is {value} at row {row}, column {column}: the model file is damaged, fetch it again")]
    WeightNotFinite {
        /// Projection.
        name: String,
        /// Output feature.
        row: usize,
        /// Input feature.
        column: usize,
        /// The value found.
        value: f32,
    },
    /// Two projections with one name.
    #[error("projection {name} was added twice: give every projection its own name")]
    DuplicateProjection {
        /// Projection.
        name: String,
    },
    /// A kernel library that cannot be loaded.
    #[error(
        "kernel library {} cannot be loaded ({reason}): compile it as a shared object with -DPF_VARIANT=loaded from this version's device headers", path.display()
    )]
    KernelLibrary {
        /// The file.
        path: std::path::PathBuf,
        /// The loader's reason.
        reason: String,
    },
    /// F32 weights on the NPU.
    #[error("precision f32 runs on the CPU device only: choose --device cpu, or --precision f16 or q8")]
    PrecisionNeedsCpu,
    /// A configuration value that cannot work.
    #[error("{what}")]
    BadConfig {
        /// What is wrong and what to set instead.
        what: String,
    },
    /// `PERMAFROST_FAULTS` or [`crate::Faults::parse`] input.
    #[error(
        "fault {part:?} is not understood: write unsupported=NAME_PART or overflow=NAME_PART:ROW, separated by ';'"
    )]
    BadFaults {
        /// The part.
        part: String,
    },
    /// A fault for a projection that is not there.
    #[error("fault {part:?} matches no projection: write a part of a name that `permafrost plan` prints")]
    UnmatchedFault {
        /// The name part.
        part: String,
    },
    /// An id of another runtime.
    #[error("projection id {index} is unknown: use the id that this runtime's builder returned")]
    UnknownProjection {
        /// The id's index.
        index: usize,
    },
    /// The input's length is not rows × width.
    #[error("{name} {direction}: input has {got} values, {rows} rows of {width} need {expected}", expected = rows * width)]
    InputLength {
        /// Projection.
        name: String,
        /// Direction.
        direction: Direction,
        /// Rows announced.
        rows: usize,
        /// Values in a row.
        width: usize,
        /// Values given.
        got: usize,
    },
    /// The output's length is not rows × width.
    #[error("{name} {direction}: output has room for {got} values, {rows} rows of {width} need {expected}", expected = rows * width)]
    OutputLength {
        /// Projection.
        name: String,
        /// Direction.
        direction: Direction,
        /// Rows submitted.
        rows: usize,
        /// Values in a row.
        width: usize,
        /// Room given.
        got: usize,
    },
    /// NaN or Inf in an input row.
    #[error(
        "{name} {direction}: input row {row} holds {value} at column {column}: training has diverged or an earlier value is wrong; lower --lr or look at the batch"
    )]
    InputNotFinite {
        /// Projection.
        name: String,
        /// Direction.
        direction: Direction,
        /// First bad row.
        row: usize,
        /// First bad column in it.
        column: usize,
        /// The value found.
        value: f32,
    },
    /// The checked functional model stopped a kernel.
    #[error("{name} {direction}: the checked functional model stopped the kernel: {fault}")]
    Trapped {
        /// Projection.
        name: String,
        /// Direction.
        direction: Direction,
        /// Rule, numbers and source position.
        fault: String,
    },
    /// A kernel of the library does not pass its verifier.
    #[error("kernel {kernel} does not pass the verifier: {diagnostics}")]
    Kernel {
        /// Kernel.
        kernel: String,
        /// What the verifier says.
        diagnostics: String,
    },
    /// The device could not be opened.
    #[error("the functional model could not reserve {vtcm_bytes} bytes of VTCM: free memory or use fewer --threads")]
    DeviceOpen {
        /// Size wanted.
        vtcm_bytes: u32,
    },
    /// A thread could not be started.
    #[error("could not start the runtime's threads: {reason}; use fewer --threads")]
    Threads {
        /// From the operating system.
        reason: String,
    },
    /// The service thread ended.
    #[error("the runtime's service thread ended early; its panic message is above, please report it")]
    ServiceStopped,
}
