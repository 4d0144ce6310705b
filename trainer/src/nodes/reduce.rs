//! Sums with a fixed order: sixteen lanes, then the lanes pairwise, then the tail.

use super::real::Real;

const LANES: usize = 16;

/// The lanes pairwise. Kept apart from the loops that fill them: seen together, the compiler splits the lanes into pairs.
#[inline(never)]
fn fold<T: Real>(lanes: &[T; LANES]) -> T {
    let mut lanes = *lanes;
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            let upper = lanes[i + width];
            lanes[i] += upper;
        }
        width /= 2;
    }
    lanes[0]
}

/// Σ a·b.
#[inline(always)]
pub fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let (a_chunks, a_tail) = a.as_chunks::<LANES>();
    let (b_chunks, b_tail) = b.as_chunks::<LANES>();
    let mut lanes = [T::ZERO; LANES];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for i in 0..LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    a_tail.iter().zip(b_tail).fold(fold(&lanes), |sum, (a, b)| sum + *a * *b)
}

/// Σ a².
#[inline(always)]
pub fn sum_of_squares<T: Real>(a: &[T]) -> T {
    dot(a, a)
}

/// Σ a.
#[inline(always)]
pub fn sum<T: Real>(a: &[T]) -> T {
    let (chunks, tail) = a.as_chunks::<LANES>();
    let mut lanes = [T::ZERO; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] += chunk[i];
        }
    }
    tail.iter().fold(fold(&lanes), |sum, a| sum + *a)
}

/// Largest element; −∞ for none. NaN elements are passed over.
#[inline(always)]
pub fn max<T: Real>(a: &[T]) -> T {
    let (chunks, tail) = a.as_chunks::<LANES>();
    let mut lanes = [T::NEG_INFINITY; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = if chunk[i] > lanes[i] { chunk[i] } else { lanes[i] };
        }
    }
    lanes.iter().chain(tail).fold(T::NEG_INFINITY, |m, &a| if a > m { a } else { m })
}
