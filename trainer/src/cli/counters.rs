//! What a command says about where its products were computed.

use hexagon_runtime::Counters;

/// Prints requests, retries and fallbacks, and where to read on when something left the NPU.
pub(super) fn print_counters(counters: &Counters) {
    outln!("NPU requests  {} forward, {} input gradient", counters.forward, counters.input_grad);
    outln!("rows retried  {} ({} ended on the CPU)", counters.rows_retried, counters.rows_to_cpu);
    outln!("fallbacks     {}", counters.fallbacks);
    if counters.fallbacks > 0 {
        errln!("the CPU answered {} requests meant for the NPU: `permafrost plan` says why", counters.fallbacks);
    }
}
