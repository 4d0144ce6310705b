//! What a row becomes: token ids and which of them are trained.

/// One training sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Token ids.
    pub ids: Vec<u32>,
    /// Same length as `ids`, not shifted: the wanted id, or -100 where nothing is trained.
    /// Position `t` is scored by the output at `t - 1`, so a label at 0 has no output to score it.
    pub labels: Vec<i32>,
    /// Line of the file the row came from, counted from 1.
    pub line: usize,
}

/// All rows of a file, in order.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    /// The rows.
    pub samples: Vec<Sample>,
    /// How many pre-tokenised rows have no target at all. They are kept (a batch may mix them with
    /// others), but train nothing.
    pub untargeted: usize,
}
