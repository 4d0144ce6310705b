/* The statuses of abi.h in words, for a log on either side. */
#ifndef PF_STATUS_H
#define PF_STATUS_H

#include "abi.h"

static inline const char *pf_status_words(int status)
{
    switch (status) {
    case PF_OK: return "done";
    case PF_BAD_ABI: return "version or size of a struct differs: application and DSP library are of two builds";
    case PF_BAD_PLAN: return "the plan is for another kernel, or needs more VTCM than was granted: plan again";
    case PF_BAD_REQUEST: return "an operand is too small, or the axes are not the plan's";
    case PF_TRAPPED: return "the checked functional model stopped the kernel; its fault text has the rule";
    case PF_BUSY: return "another client keeps the VTCM: try again";
    case PF_WRONG_ARCH: return "the plan is for another architecture: load the library of the phone's";
    case PF_BAD_MESSAGE: return "a packet's size, buffers, offsets or cache flags are not what the request says";
    case PF_NO_POWER: return "the clock and power votes were refused: is the process allowed to use the compute DSP?";
    case PF_NO_VTCM: return "no VTCM in one page was granted: close other users of the NPU";
    case PF_NO_HMX: return "HMX could not be locked: close other users of the NPU";
    case PF_NO_THREAD: return "a thread could not be started on the DSP";
    case PF_NO_QUEUE: return "the packet queue could not be imported: was it created on the compute DSP?";
    case PF_NOT_STARTED: return "the session has not been started";
    case PF_STARTED: return "the session has been started already: stop it first";
    default: return "not a status of this version";
    }
}

#endif
