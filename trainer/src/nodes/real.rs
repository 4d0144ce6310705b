//! The numbers a node computes with: f32 in training, f64 where a test holds a backward pass against differences of its
//! forward pass.

use super::exp::exp;
use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A floating-point type.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Sum
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// −∞.
    const NEG_INFINITY: Self;
    /// The nearest number.
    fn of(value: f64) -> Self;
    /// In f64.
    fn wide(self) -> f64;
    /// e^self; in f32 by [`exp`], the same bits on every processor.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + self), exact for small numbers too.
    fn ln_1p(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// f32 values in this type: themselves, or widened into `scratch`.
    fn rows<'a>(values: &'a [f32], scratch: &'a mut Vec<Self>) -> &'a [Self];

    /// 1 / (1 + e^−self).
    #[inline(always)]
    fn sigmoid(self) -> Self {
        Self::ONE / (Self::ONE + (-self).exp())
    }
}

impl Real for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    const NEG_INFINITY: f32 = f32::NEG_INFINITY;

    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn exp(self) -> f32 {
        exp(self)
    }

    fn ln(self) -> f32 {
        self.ln()
    }

    fn ln_1p(self) -> f32 {
        self.ln_1p()
    }

    #[inline(always)]
    fn sqrt(self) -> f32 {
        self.sqrt()
    }

    fn rows<'a>(values: &'a [f32], _: &'a mut Vec<f32>) -> &'a [f32] {
        values
    }
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const NEG_INFINITY: f64 = f64::NEG_INFINITY;

    fn of(value: f64) -> f64 {
        value
    }

    fn wide(self) -> f64 {
        self
    }

    fn exp(self) -> f64 {
        self.exp()
    }

    fn ln(self) -> f64 {
        self.ln()
    }

    fn ln_1p(self) -> f64 {
        self.ln_1p()
    }

    fn sqrt(self) -> f64 {
        self.sqrt()
    }

    fn rows<'a>(values: &'a [f32], scratch: &'a mut Vec<f64>) -> &'a [f64] {
        scratch.clear();
        scratch.extend(values.iter().map(|&value| f64::from(value)));
        scratch
    }
}
