//! Element types of GGUF tensors (ggml's type numbers).

/// A storage type this reader can turn into f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F32,
    F16,
    BF16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q8_0,
    Q4K,
    Q5K,
    Q6K,
}

impl Element {
    pub(super) const SUPPORTED: &'static str = "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q8_0, Q4_K, Q5_K, Q6_K";

    /// The type with this number in the file; the error is a name for the message.
    pub(super) fn from_id(id: u32) -> Result<Element, String> {
        Ok(match id {
            0 => Element::F32,
            1 => Element::F16,
            2 => Element::Q4_0,
            3 => Element::Q4_1,
            6 => Element::Q5_0,
            8 => Element::Q8_0,
            12 => Element::Q4K,
            13 => Element::Q5K,
            14 => Element::Q6K,
            30 => Element::BF16,
            7 => return Err("Q5_1".into()),
            10 => return Err("Q2_K".into()),
            11 => return Err("Q3_K".into()),
            other => return Err(format!("number {other}")),
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Element::F32 => "F32",
            Element::F16 => "F16",
            Element::BF16 => "BF16",
            Element::Q4_0 => "Q4_0",
            Element::Q4_1 => "Q4_1",
            Element::Q5_0 => "Q5_0",
            Element::Q8_0 => "Q8_0",
            Element::Q4K => "Q4_K",
            Element::Q5K => "Q5_K",
            Element::Q6K => "Q6_K",
        }
    }

    /// Values in one block; a row is a whole number of blocks.
    pub(super) fn block_values(self) -> usize {
        match self {
            Element::F32 | Element::F16 | Element::BF16 => 1,
            Element::Q4_0 | Element::Q4_1 | Element::Q5_0 | Element::Q8_0 => 32,
            Element::Q4K | Element::Q5K | Element::Q6K => 256,
        }
    }

    /// Bytes of one block.
    pub(super) fn block_bytes(self) -> usize {
        match self {
            Element::F32 => 4,
            Element::F16 | Element::BF16 => 2,
            Element::Q4_0 => 2 + 16,
            Element::Q4_1 => 2 + 2 + 16,
            Element::Q5_0 => 2 + 4 + 16,
            Element::Q8_0 => 2 + 32,
            Element::Q4K => 2 + 2 + 12 + 128,
            Element::Q5K => 2 + 2 + 12 + 32 + 128,
            Element::Q6K => 128 + 64 + 16 + 2,
        }
    }
}
