//! Shows how far a run is: a bar on a terminal, now and then a line elsewhere.

use super::metrics::StepMetrics;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::Duration;

pub(super) struct Progress {
    bar: Option<ProgressBar>,
    /// Print a line every so many steps.
    every: Option<usize>,
    total: usize,
    tokens: usize,
    seconds: f64,
    npu_seconds: f64,
}

impl Progress {
    pub fn new(total: usize, shown: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (shown && terminal).then(|| {
            let bar = ProgressBar::new(total as u64);
            if let Ok(style) =
                ProgressStyle::with_template("{elapsed_precise} {bar:30} {pos}/{len} steps, {msg}, {eta} left")
            {
                bar.set_style(style);
            }
            bar.set_message("first step");
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        let every = (shown && !terminal).then(|| (total / 20).max(1));
        Progress { bar, every, total, tokens: 0, seconds: 0.0, npu_seconds: 0.0 }
    }

    pub fn step(&mut self, metrics: &StepMetrics, npu_seconds: f64) {
        self.tokens += metrics.tokens;
        self.seconds += metrics.seconds;
        self.npu_seconds += npu_seconds;
        let npu = (100.0 * self.npu_seconds / self.seconds.max(1e-9)).min(100.0);
        let rate = self.tokens as f64 / self.seconds.max(1e-9);
        let text = format!("loss {:.4}, {rate:.0} tokens/s, NPU {npu:.0} % CPU {:.0} %", metrics.loss, 100.0 - npu);
        if let Some(bar) = &self.bar {
            bar.set_message(text);
            bar.inc(1);
        } else if self.every.is_some_and(|every| (metrics.step + 1).is_multiple_of(every) || metrics.step == 0) {
            // Training goes on when nobody reads along.
            let _ = writeln!(std::io::stderr(), "step {}/{}: {text}", metrics.step + 1, self.total);
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
