/* The state of one device context on the phone: VTCM, the HMX resource and the DMA ring of the thread that owns it. */
#ifndef PF_HEXAGON_DEVICE_H
#define PF_HEXAGON_DEVICE_H

#include <hexagon_types.h>

#include <hexagon_protos.h>
#include <hvx_hexagon_protos.h>

/* PF_VENDOR: the DSP's runtime is there, as on a phone. A library that qemu runs, or that is only looked at, has none. */
#if defined(PF_SDK) && !defined(PF_VENDOR)
#define PF_VENDOR 1
#endif
#if defined(PF_VENDOR)
#include "vendor.h"
#endif

/* A wide 2-D descriptor (type 9, V75 and later). */
struct pf_descriptor {
    volatile uint32_t words[8];
} __attribute__((aligned(64)));

#define PF_RING 64u
#define PF_MOST_WORKERS 8u

struct pf_pool;

typedef struct pf_device {
    struct pf_descriptor ring[PF_RING]; /* ticket t lives in slot t % PF_RING */
    uint8_t *vtcm;
    uint32_t vtcm_bytes;
    uint32_t resource; /* compute resource context that holds VTCM and may lock HMX */
    uint32_t ticket;   /* last descriptor linked; ticket 0 is the empty one that starts the chain */
    uint32_t landed;   /* every ticket up to here is done */
    struct pf_pool *pool; /* HVX workers, or NULL: see workers_hexagon.h */
} pf_device;

#endif
