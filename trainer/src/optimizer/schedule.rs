//! Learning rate by step.

use std::f64::consts::PI;

/// How the learning rate goes on after the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Schedule {
    /// It stays.
    #[default]
    Constant,
    /// It falls in a straight line.
    Linear,
    /// It falls along half a cosine.
    Cosine,
}

/// A schedule with its numbers.
#[derive(Clone, Copy, Debug)]
pub struct LearningRate {
    /// Learning rate at the end of the warm-up.
    pub peak: f64,
    /// The curve after it.
    pub schedule: Schedule,
    /// Steps of linear warm-up: lr · min(1, (step + 1) / warmup).
    pub warmup: usize,
    /// All steps, warm-up included.
    pub total: usize,
    /// Linear and cosine reach this part of `peak` after `total` steps.
    pub min_ratio: f64,
}

impl LearningRate {
    /// Learning rate of step `step`, counted from 0. With p = (step − warmup) / (total − warmup),
    /// clamped to 0..1, and r = min_ratio, the factor is r + (1 − r)·(1 − p) or
    /// r + (1 − r)·(1 + cos πp)/2.
    pub fn at(&self, step: usize) -> f64 {
        if step < self.warmup {
            return self.peak * ((step + 1) as f64 / self.warmup as f64).min(1.0);
        }
        let rest = self.total.saturating_sub(self.warmup).max(1);
        let progress = ((step - self.warmup) as f64 / rest as f64).min(1.0);
        let left = match self.schedule {
            Schedule::Constant => return self.peak,
            Schedule::Linear => 1.0 - progress,
            Schedule::Cosine => 0.5 * (1.0 + (PI * progress).cos()),
        };
        self.peak * (self.min_ratio + (1.0 - self.min_ratio) * left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_up_then_decay_to_the_end() {
        let at = |schedule, step| LearningRate { peak: 2.0, schedule, warmup: 4, total: 14, min_ratio: 0.1 }.at(step);
        for schedule in [Schedule::Constant, Schedule::Linear, Schedule::Cosine] {
            assert_eq!([0, 1, 2, 3, 4].map(|s| at(schedule, s)), [0.5, 1.0, 1.5, 2.0, 2.0]);
        }
        assert_eq!(at(Schedule::Constant, 13), 2.0);
        assert!((at(Schedule::Linear, 9) - 2.0 * 0.55).abs() < 1e-12);
        assert!((at(Schedule::Cosine, 9) - 2.0 * 0.55).abs() < 1e-12);
        assert!((at(Schedule::Linear, 14) - 0.2).abs() < 1e-12);
        assert!((at(Schedule::Cosine, 40) - 0.2).abs() < 1e-12);
    }
}
