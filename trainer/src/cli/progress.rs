//! One progress line for whatever takes time.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How often a log file, which cannot show a moving bar, gets a line.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// A bar on a terminal, a line every ten seconds anywhere else.
pub(super) struct Progress {
    bar: ProgressBar,
    log: Option<Log>,
}

struct Log {
    label: String,
    total: u64,
    unit: &'static str,
    printed: Instant,
}

impl Progress {
    /// Starts a line named `label` that counts to `total` `unit`s.
    pub fn start(label: &str, total: usize, unit: &'static str) -> Progress {
        let total = total as u64;
        if !std::io::stderr().is_terminal() {
            errln!("{label}: {total} {unit}");
            let log = Log { label: label.to_owned(), total, unit, printed: Instant::now() };
            return Progress { bar: ProgressBar::hidden(), log: Some(log) };
        }
        let template = format!("{{prefix:<28}} {{bar:24}} {{pos:>5}}/{{len}} {unit} {{elapsed}}<{{eta}} {{msg}}");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(total).with_style(style).with_prefix(label.to_owned());
        bar.enable_steady_tick(Duration::from_millis(250));
        Progress { bar, log: None }
    }

    /// Moves to `done` of the total, with a short note.
    pub fn at(&mut self, done: usize, note: &str) {
        self.bar.set_position(done as u64);
        self.bar.set_message(note.to_owned());
        if let Some(log) = &mut self.log
            && log.printed.elapsed() >= LOG_EVERY
        {
            log.printed = Instant::now();
            errln!("{}: {done}/{} {} {note}", log.label, log.total, log.unit);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish();
    }
}
