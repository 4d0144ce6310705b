//! What a command says about where its products were computed.

use bytesize::ByteSize;
use hexagon_runtime::{Runtime, SessionUse};

/// Prints requests, sessions, retries and fallbacks, and where to read on when something left the NPU.
pub(super) fn print_counters(runtime: &Runtime, session_bytes: u64) {
    let counters = runtime.counters();
    outln!("NPU requests  {} forward, {} input gradient", counters.forward, counters.input_grad);
    print_sessions(runtime, session_bytes);
    outln!("rows retried  {} ({} ended on the CPU)", counters.rows_retried, counters.rows_to_cpu);
    outln!("fallbacks     {}", counters.fallbacks);
    if counters.fallbacks > 0 {
        errln!("the CPU answered {} requests meant for the NPU: `permafrost plan` says why", counters.fallbacks);
    }
}

/// Prints the NPU sessions of up to `session_bytes` of weights, with what each maps and answered; nothing on the CPU device.
pub(super) fn print_sessions(runtime: &Runtime, session_bytes: u64) {
    let sessions = runtime.sessions();
    if sessions.is_empty() {
        return;
    }
    let size = |bytes| ByteSize::b(bytes).display().si();
    outln!("NPU sessions  {} of up to {} of weights each", sessions.len(), size(session_bytes));
    for (number, SessionUse { first, last, projections, bytes, requests }) in sessions.iter().enumerate() {
        let (number, bytes) = (number + 1, size(*bytes));
        outln!("  session {number}   {bytes}, {projections} projections, {requests} requests  {first} .. {last}");
    }
}
