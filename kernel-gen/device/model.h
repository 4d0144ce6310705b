/* What a functional model offers to the host: one table of functions per compiled variant. */
#ifndef PF_MODEL_H
#define PF_MODEL_H

#include <stdint.h>

#include "abi.h"

typedef struct pf_device pf_device;

#define PF_MOST_WORKERS 8u

/* How HMX writes a result that FP16 cannot hold; sources disagree, so kernels are run under all three. */
enum pf_overflow {
    PF_OVERFLOW_EXPONENT31 = 0, /* exponent 31 is one more binade, then 0x7FFF / 0xFFFF */
    PF_OVERFLOW_LARGEST = 1,    /* +-65504 */
    PF_OVERFLOW_INFINITY = 2    /* +-Inf */
};

/* Work done since the device was opened. */
struct pf_counts {
    uint64_t packets;         /* HMX multiply packets */
    uint64_t tiles;           /* tile pairs multiplied */
    uint64_t stores;          /* accumulators converted to an FP16 tile */
    uint64_t dma_bytes;
    uint64_t dma_descriptors;
    uint64_t strips;          /* HVX strip calls */
    uint64_t strip_tiles;     /* tiles those calls walked */
};

struct pf_model_table {
    const char *name;
    /* A device with `vtcm_bytes` of VTCM (a multiple of 2048), an overflow behaviour and 1 to PF_MOST_WORKERS HVX workers,
     * which change no bit; NULL if memory is short. */
    pf_device *(*open)(uint32_t vtcm_bytes, uint32_t overflow, uint32_t workers);
    void (*close)(pf_device *dev);
    /* Why the last run returned PF_TRAPPED; "" otherwise. Owned by the device, valid until its next run. */
    const char *(*fault)(pf_device *dev);
    /* Runs the kernel with this id; returns an enum pf_status. */
    int (*run)(pf_device *dev, uint32_t kernel_id, const struct pf_plan *plan, const struct pf_request *request);
    void (*counts)(pf_device *dev, struct pf_counts *out);
};

#endif
