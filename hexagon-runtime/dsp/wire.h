/* What crosses between application and DSP: results of the FastRPC calls, and the packets of the queue.
 *
 * Little endian, sizes asserted. A packet is one request: its operands are offsets into the packet's buffers, since only the
 * DSP knows where it has them. Cache maintenance is part of the contract: whoever hands a buffer over says so in its flags,
 * and a request whose flags do not fit its roles is refused, for it would read or leave stale lines.
 *
 *   role          flags in the request                            flags in the answer
 *   PF_CONSTANT   none: written once, flushed when it was mapped  none
 *   PF_INPUT      FLUSH_SENDER | INVALIDATE_RECIPIENT             none
 *   PF_OUTPUT     FLUSH_SENDER | INVALIDATE_RECIPIENT             FLUSH_SENDER | INVALIDATE_RECIPIENT
 *
 * An output is flushed and invalidated on the way in too: the CPU may have dirty lines of it, which would overwrite results
 * later, and the DSP fills lines of which it writes only a part.
 */
#ifndef PF_WIRE_H
#define PF_WIRE_H

#include "abi.h"

/* The operands, then the exponents and the flags of the rows. */
#define PF_ROW_EXPONENTS PF_MAX_OPERANDS
#define PF_ROW_FLAGS (PF_MAX_OPERANDS + 1)
#define PF_PLACES (PF_MAX_OPERANDS + 2)
#define PF_MOST_BUFFERS PF_PLACES

enum pf_role { PF_ABSENT = 0, PF_CONSTANT = 1, PF_INPUT = 2, PF_OUTPUT = 3 };

/* Which buffer of the packet an operand lies in, and what is done to it. */
struct pf_place {
    uint32_t buffer;
    uint32_t role;
};

struct pf_message {
    uint32_t abi_version;
    uint32_t bytes;                     /* sizeof(struct pf_message) */
    struct pf_plan plan;
    struct pf_request request;          /* addresses are offsets into the buffers */
    struct pf_place places[PF_PLACES];
};

struct pf_answer {
    uint32_t abi_version;
    uint32_t bytes;                     /* sizeof(struct pf_answer) */
    uint32_t id;                        /* the request's; 0 where no request could be read */
    uint32_t status;                    /* enum pf_status */
    uint64_t cycles;                    /* of the DSP, reading and answering left out */
};

/* What every FastRPC call gives back. */
struct pf_hello {
    uint32_t status;                    /* enum pf_status */
    uint32_t abi_version;
    uint32_t plan_bytes;
    uint32_t request_bytes;
    uint32_t message_bytes;
    uint32_t arch;                      /* 79 or 81: what the library was compiled for */
    uint32_t hvx_contexts;              /* of this part, found at run time */
    uint32_t vtcm_bytes;                /* granted after start, else all there is */
};

/* What start is given. */
struct pf_start {
    uint64_t queue;                     /* from dspqueue_export */
    uint32_t abi_version;
    uint32_t plan_bytes;
    uint32_t request_bytes;
    uint32_t message_bytes;
};

_Static_assert(sizeof(struct pf_message) == 528, "pf_message is part of the wire ABI");
_Static_assert(sizeof(struct pf_answer) == 24, "pf_answer is part of the wire ABI");
_Static_assert(sizeof(struct pf_hello) == 32, "pf_hello is part of the wire ABI");
_Static_assert(sizeof(struct pf_start) == 24, "pf_start is part of the wire ABI");

#endif
