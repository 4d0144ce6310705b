//! What a session on the DSP answers where no kernel ran.

use crate::abi;

/// A status in words, with what to do next.
pub(super) fn words(status: u32) -> String {
    let words = match status {
        abi::PF_WRONG_ARCH => "the plan is for another architecture: load the library of the phone's",
        abi::PF_BAD_MESSAGE => "a packet's size, buffers, offsets or cache flags are not what the request says",
        abi::PF_NO_POWER => "clock and power votes were refused: is the process allowed to use the compute DSP?",
        abi::PF_NO_VTCM => "no VTCM in one page was granted: close other users of the NPU",
        abi::PF_NO_HMX => "HMX could not be locked: close other users of the NPU",
        abi::PF_NO_THREAD => "a thread could not be started on the DSP",
        abi::PF_NO_QUEUE => "the packet queue could not be imported: was it created on the compute DSP?",
        abi::PF_NOT_STARTED => "the session has not been started",
        abi::PF_STARTED => "the session has been started already: stop it first",
        _ => "this version does not know it: application and DSP library are of two builds",
    };
    format!("the device returned status {status}: {words}")
}
