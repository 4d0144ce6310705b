//! The table at the end of the demo.

use std::fmt;
use std::time::Duration;

use hexagon_runtime::Counters;

use crate::eval::Agreement;

/// The task before and after training.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The frozen model.
    pub before: Agreement,
    /// With the trained adapter.
    pub after: Agreement,
}

/// All that the demo found out.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Tag accuracy and macro-F1.
    pub measured: Measured,
    /// Optimizer steps done.
    pub steps: usize,
    /// Mean loss of the first step and of the last, in nats a target.
    pub losses: Option<(f64, f64)>,
    /// Trained tokens, prompts included, a second of training.
    pub tokens_per_second: f64,
    /// What the runtime counted over all phases.
    pub counters: Counters,
    /// Peak of the resident memory while training, in bytes, where the system tells.
    pub peak_bytes: Option<u64>,
    /// What took how long.
    pub phases: Vec<(&'static str, Duration)>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { before, after } = self.measured;
        let counters = &self.counters;
        let mut row = |name: &str, value: String| writeln!(f, "  {name:<28}{value}");
        row(
            &format!("tag accuracy ({} rows)", after.rows),
            format!("{:.1} % → {:.1} %", 100.0 * before.accuracy, 100.0 * after.accuracy),
        )?;
        row("macro-F1", format!("{:.3} → {:.3}", before.macro_f1, after.macro_f1))?;
        if let Some((first, last)) = self.losses {
            row("loss", format!("{first:.4} → {last:.4}"))?;
        }
        row("optimizer steps", self.steps.to_string())?;
        row("training tokens/s", format!("{:.0}", self.tokens_per_second))?;
        row(
            "NPU requests forward",
            format!("{} (q8 {}, f16 {})", counters.forward, counters.forward_q8, counters.forward_f16),
        )?;
        row(
            "NPU requests input gradient",
            format!("{} (q8 {}, f16 {})", counters.input_grad, counters.input_grad_q8, counters.input_grad_f16),
        )?;
        row("rows retried", format!("{} ({} ended on the CPU)", counters.rows_retried, counters.rows_to_cpu))?;
        row("fallbacks", counters.fallbacks.to_string())?;
        if counters.cpu_requests > 0 {
            row("requests on the CPU device", counters.cpu_requests.to_string())?;
        }
        let peak = match self.peak_bytes {
            Some(bytes) => format!("{} MB", bytes.div_ceil(1_000_000)),
            None => "unknown on this system".to_owned(),
        };
        row("peak memory of training", peak)?;
        let total: Duration = self.phases.iter().map(|(_, time)| *time).sum();
        let phases: Vec<String> =
            self.phases.iter().map(|(name, time)| format!("{name} {:.0} s", time.as_secs_f64())).collect();
        row("time", format!("{:.0} s: {}", total.as_secs_f64(), phases.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_figure() {
        let agreement = |accuracy, macro_f1| Agreement { rows: 120, accuracy, macro_f1 };
        let summary = Summary {
            measured: Measured { before: agreement(0.175, 0.1), after: agreement(0.65, 0.61) },
            steps: 40,
            losses: Some((3.25, 0.75)),
            tokens_per_second: 123.4,
            counters: Counters { forward: 10, forward_q8: 10, input_grad: 7, rows_retried: 3, ..Counters::default() },
            peak_bytes: Some(700_000_001),
            phases: vec![("before", Duration::from_secs(20)), ("training", Duration::from_secs(300))],
        };
        let table = summary.to_string();
        for figure in [
            "17.5 % → 65.0 %",
            "0.100 → 0.610",
            "3.2500 → 0.7500",
            "40",
            "123",
            "10 (q8 10, f16 0)",
            "7 (q8 0",
            "3 (0 ended",
            "701 MB",
            "320 s: before 20 s, training 300 s",
        ] {
            assert!(table.contains(figure), "{figure} is not in\n{table}");
        }
    }
}
