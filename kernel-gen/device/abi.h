/* The wire ABI between the CPU-side planner and the emitted kernels.
 *
 * Every struct has a fixed size, asserted below, and starts with its version and size so that the two sides can refuse
 * each other. All fields are little endian; addresses are 64-bit on the wire so that one layout serves a 32-bit DSP, the
 * functional model and the CPU. The Rust view (hexagon-runtime/src/abi.rs) is generated from this file by bindgen.
 */
#ifndef PF_ABI_H
#define PF_ABI_H

#include <stdint.h>

#define PF_ABI_VERSION 2u
#define PF_MAX_AXES 4
#define PF_MAX_TUNABLES 8
#define PF_MAX_WINDOWS 8
#define PF_MAX_OPERANDS 6

/* What a kernel entry or a session answers; status.h has the words. */
enum pf_status {
    PF_OK = 0,
    PF_BAD_ABI = 1,       /* version or size of plan or request differs */
    PF_BAD_PLAN = 2,      /* plan is for another kernel or does not fit this device's VTCM */
    PF_BAD_REQUEST = 3,   /* operand too small, wrong axes */
    PF_TRAPPED = 4,       /* the checked functional model stopped the kernel; see the fault text */
    PF_BUSY = 5,          /* another client keeps the VTCM */
    PF_WRONG_ARCH = 6,    /* plan is for another architecture than the library */
    PF_BAD_MESSAGE = 7,   /* a packet's size, buffers, offsets or cache flags */
    PF_NO_POWER = 8,      /* clock and power votes refused */
    PF_NO_VTCM = 9,       /* no VTCM in one page */
    PF_NO_HMX = 10,       /* HMX could not be locked */
    PF_NO_THREAD = 11,    /* no thread on the DSP */
    PF_NO_QUEUE = 12,     /* packet queue could not be imported */
    PF_NOT_STARTED = 13,
    PF_STARTED = 14       /* started already */
};

/* One VTCM window: `stages` buffers of `stage_bytes`, the first at `offset` from the VTCM base. */
struct pf_window {
    uint32_t offset;
    uint32_t stage_bytes;
    uint32_t stages;
    uint32_t reserved;
};

/* Made once per (kernel, shape, token bucket) on the CPU; the device obeys it. */
struct pf_plan {
    uint32_t abi_version;
    uint32_t bytes;                      /* sizeof(struct pf_plan) */
    uint32_t arch;                       /* 79 or 81 */
    uint32_t kernel;                     /* kernel id: FNV-1a of the kernel's name */
    uint32_t axes[PF_MAX_AXES];          /* extent of each axis in declaration order; the token axis holds the bucket */
    uint32_t tunables[PF_MAX_TUNABLES];  /* in declaration order */
    struct pf_window windows[PF_MAX_WINDOWS];
    uint32_t window_count;
    uint32_t vtcm_bytes;                 /* end of the last window */
    uint64_t hash;                       /* FNV-1a 64 of every field above */
};

/* One operand in DDR, its base aligned to 128 bytes. Row-major operands: `rows` x `cols` elements, `row_stride` bytes apart.
 * Tiled operands: rows and cols are the padded extents, row_stride the bytes of one row of tiles. Rows of blocks are as the
 * model file has them: any base, no padding. */
struct pf_operand {
    uint64_t address;
    uint64_t bytes;
    uint32_t rows;
    uint32_t cols;
    uint32_t row_stride;
    uint32_t reserved;
};

/* One product. The kernel computes rows [row_begin, row_end) of the token axis; operands are in declaration order. */
struct pf_request {
    uint32_t abi_version;
    uint32_t bytes;                      /* sizeof(struct pf_request) */
    uint32_t kernel;
    uint32_t id;                         /* echoed by transports; a late answer carries an old id */
    uint32_t axes[PF_MAX_AXES];          /* actual extents; the token axis is <= the plan's bucket */
    uint32_t row_begin;
    uint32_t row_end;
    struct pf_operand operands[PF_MAX_OPERANDS];
    uint64_t row_exponents;              /* int32_t[tokens]: e of the 2^e every token row is multiplied by */
    uint64_t row_flags;                  /* uint8_t[tokens]: set to 1 where a partial sum was not finite or >= 60 000 */
};

_Static_assert(sizeof(struct pf_window) == 16, "pf_window is part of the wire ABI");
_Static_assert(sizeof(struct pf_plan) == 208, "pf_plan is part of the wire ABI");
_Static_assert(sizeof(struct pf_operand) == 32, "pf_operand is part of the wire ABI");
_Static_assert(sizeof(struct pf_request) == 248, "pf_request is part of the wire ABI");

#endif
