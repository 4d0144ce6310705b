//! SIGINT and SIGTERM as requests to stop, not as the end of the process.

use std::io;
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What a shell adds to the number of the signal that ended a process.
const SIGNALLED: i32 = 128;

/// Whether to stop, and why.
pub(super) struct Stop {
    /// Turns true at the first signal; a second one ends the process at once.
    pub flag: Arc<AtomicBool>,
    signal: Arc<AtomicI32>,
}

impl Stop {
    /// Installs the handler. Without one, a signal ends the run without saving; that is said and no error.
    pub fn install() -> Stop {
        let stop = Stop { flag: Arc::new(AtomicBool::new(false)), signal: Arc::new(AtomicI32::new(0)) };
        if let Err(error) = stop.listen() {
            tracing::warn!("Ctrl-C will end the run without saving: {error}");
        }
        stop
    }

    fn listen(&self) -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let (flag, seen) = (Arc::clone(&self.flag), Arc::clone(&self.signal));
        let wait = move || {
            for signal in signals.forever() {
                if flag.swap(true, Ordering::SeqCst) {
                    process::exit(SIGNALLED + signal);
                }
                seen.store(signal, Ordering::SeqCst);
                errln!("\nstopping after this step; {} again ends at once and loses it", name(signal));
            }
        };
        thread::Builder::new().name("permafrost-signals".to_owned()).spawn(wait).map(|_| ())
    }

    /// What stopped the run, in words.
    pub fn reason(&self) -> &'static str {
        name(self.signal.load(Ordering::SeqCst))
    }

    /// The code of a run that was stopped: 130 after SIGINT, 143 after SIGTERM.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from((SIGNALLED + self.signal.load(Ordering::SeqCst)) as u8)
    }
}

fn name(signal: i32) -> &'static str {
    if signal == SIGTERM { "SIGTERM" } else { "Ctrl-C" }
}
