//! Diagnostics on stderr: log lines and the look of errors.

use tracing_subscriber::EnvFilter;

/// Installs the log, filtered by `PERMAFROST_LOG` (warnings by default), and the error display.
pub(super) fn start() {
    let filter = EnvFilter::try_from_env("PERMAFROST_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    // A log line that cannot be written must not end the run: the log would complain on stderr about stderr.
    tracing_subscriber::fmt()
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_target(false)
        .with_writer(std::io::stderr)
        .init();
    // Paths and numbers in a message must stay searchable, so lines are not broken to the terminal's width.
    let hook = miette::set_hook(Box::new(|_| {
        Box::new(miette::MietteHandlerOpts::new().wrap_lines(false).break_words(false).build())
    }));
    if hook.is_err() {
        tracing::debug!("an error display was installed before");
    }
}
