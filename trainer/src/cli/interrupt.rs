//! Ctrl-C as a request to stop, not as the end of the process.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Installs the handler. The flag turns true at the first Ctrl-C; a second one ends the process at once.
pub(super) fn stop_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    let installed = ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::SeqCst) {
            // The shell's convention for a process ended by SIGINT.
            process::exit(130);
        }
        eprintln!("\nstopping after this step; Ctrl-C again ends at once and loses it");
    });
    if let Err(error) = installed {
        tracing::warn!("Ctrl-C will end the run without saving: {error}");
    }
    flag
}
