//! What loading a model needs at its peak.

use crate::model_file::STREAM_BYTES;
use crate::registry::{ModelConfig, PrecisionPolicy};

/// Bytes held while a model is loaded, one tensor after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loading {
    kept: u64,
    peak: u64,
}

impl Loading {
    /// The next tensor: bytes that stay, and bytes held beside them until it is done.
    pub fn take(&mut self, kept: u64, beside: u64) {
        self.kept += kept;
        self.peak = self.peak.max(self.kept + beside);
    }

    /// Most bytes at once.
    pub fn peak(&self) -> u64 {
        self.peak
    }
}

/// Bytes held while a tensor of `values` values is streamed: a piece of it as stored and in f32.
pub fn piece_beside(values: usize) -> u64 {
    STREAM_BYTES.min(8 * values as u64)
}

/// Bytes held beside a resident weight while it is made from `values` values in f32: they, and the piece of the file they
/// are read through.
pub fn values_beside(values: usize) -> u64 {
    4 * values as u64 + piece_beside(values)
}

/// Loads `config` from a file of 2 bytes a weight, without cached weights: embedding and head, then every layer.
pub fn loading_bytes(config: &ModelConfig, policy: &PrecisionPolicy) -> u64 {
    let mut loading = Loading::default();
    for _ in 0..if config.tied_head { 1 } else { 2 } {
        let values = config.vocab * config.hidden;
        loading.take(2 * values as u64, piece_beside(values));
    }
    for projection in config.projections() {
        let bytes = projection.bytes(policy.of(projection.kind));
        loading.take(bytes, values_beside(projection.rows * projection.cols));
    }
    loading.peak()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexagon_runtime::Precision;

    #[test]
    fn the_peak_is_the_last_large_matrix_beside_all_that_came_before() {
        let mut config = ModelConfig::preset("llama-3.2-1b").unwrap().1;
        config.layers = 2;
        let tables = 2 * 128_256 * 2048;
        let weights = 2 * (2 * 2048 * 2048 + 2 * 512 * 2048 + 3 * 8192 * 2048);
        let down = 4 * 8192 * 2048;
        let q8 = loading_bytes(&config, &PrecisionPolicy::uniform(Precision::Q8));
        assert_eq!(q8, tables + weights * 34 / 32 + down + STREAM_BYTES);
        let f32 = loading_bytes(&config, &PrecisionPolicy::uniform(Precision::F32));
        assert_eq!(f32, tables + 4 * weights + down + STREAM_BYTES);
        // A matrix in the middle may be the largest.
        let mut loading = Loading::default();
        [(10, 5), (10, 50), (10, 5)].into_iter().for_each(|(kept, beside)| loading.take(kept, beside));
        assert_eq!(loading.peak(), 70);
    }
}
