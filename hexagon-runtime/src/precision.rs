use std::fmt;

/// How a frozen weight is kept resident. Every product uses the values this rounding leaves ("effective weights").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Untouched f32. Only the CPU device computes with it.
    F32,
    /// Rounded to nearest-even FP16, row-major.
    F16,
    /// ggml's Q8_0 rule (see [`crate::WeightData`]); the effective weight is `fp16(q·d)`.
    Q8,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Precision::F32 => "f32",
            Precision::F16 => "f16",
            Precision::Q8 => "q8",
        })
    }
}
