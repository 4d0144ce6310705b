//! Sums with a fixed order: sixteen lanes, then the lanes pairwise, then the tail.

const LANES: usize = 16;

fn fold(mut lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}

/// Σ a·b.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_chunks, a_tail) = a.as_chunks::<LANES>();
    let (b_chunks, b_tail) = b.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for i in 0..LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    a_tail.iter().zip(b_tail).fold(fold(lanes), |sum, (a, b)| sum + a * b)
}

/// Σ a².
pub fn sum_of_squares(a: &[f32]) -> f32 {
    dot(a, a)
}

/// Σ a.
pub(super) fn sum(a: &[f32]) -> f32 {
    let (chunks, tail) = a.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] += chunk[i];
        }
    }
    tail.iter().fold(fold(lanes), |sum, a| sum + a)
}

/// Largest element; −∞ for none. NaN elements are passed over.
pub(super) fn max(a: &[f32]) -> f32 {
    let (chunks, tail) = a.as_chunks::<LANES>();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = if chunk[i] > lanes[i] { chunk[i] } else { lanes[i] };
        }
    }
    lanes.iter().chain(tail).fold(f32::NEG_INFINITY, |m, &a| m.max(a))
}
