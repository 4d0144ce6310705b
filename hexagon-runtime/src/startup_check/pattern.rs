/// Rows of the pattern: odd, so that a repetition meets every place in a 32-row tile.
pub(super) const PATTERN_ROWS: usize = 7;

/// Three random rows, then: all zero, one huge element, f32 denormals, magnitudes over 40 binades.
pub(super) fn pattern_rows(width: usize) -> Vec<f32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ width as u64;
    let mut next = move || {
        // Knuth's 64-bit linear congruence; its high bits are random enough for a check.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f32 / (1u64 << 23) as f32) - 1.0
    };
    let mut rows = vec![0.0; PATTERN_ROWS * width];
    for (row, values) in rows.chunks_exact_mut(width).enumerate() {
        for (column, value) in values.iter_mut().enumerate() {
            let random = next();
            *value = match row {
                0..=2 => random,
                3 => 0.0,
                4 if column == width / 2 => 1e6,
                4 => random,
                5 => random * 1e-40,
                _ => random * 2f32.powi(20 - (column % 41) as i32),
            };
        }
    }
    rows
}

/// `count` rows: the pattern again and again.
pub(super) fn repeated(pattern: &[f32], width: usize, count: usize) -> Vec<f32> {
    pattern.iter().copied().cycle().take(count * width).collect()
}
