/* The state of one modelled device. */
#ifndef PF_MODEL_DEVICE_H
#define PF_MODEL_DEVICE_H

#include "model.h"
#include "tile.h"

/* A DMA descriptor between issue and landing. */
struct pf_transfer {
    uint32_t ticket;
    uint8_t *dst;
    const uint8_t *src;
    uint32_t dst_stride, src_stride, width, rows;
};

#if defined(PF_MODEL_CHECKED)
#include <setjmp.h>
#include <stdlib.h>

/* What the checked model knows of each VTCM byte. */
enum pf_shadow {
    PF_NEVER_WRITTEN = 0,
    PF_WRITTEN = 1,
    PF_OVERFLOWED = 2, /* an HMX result FP16 could not hold: only the guarded unpack may read it */
    PF_IN_FLIGHT = 3   /* destination of a DMA or scatter that has not been waited for */
};

/* One scattered word between issue and release. */
struct pf_scattered {
    uint8_t *dst;
    uint32_t word;
};

#define PF_MOST_TRANSFERS 4096u

/* Where in the loops a step stands: the first element of an axis's block, or the stage of a window. */
struct pf_index {
    const char *name;
    uint32_t value;
};

/* The tiles of one call of an author's step; `to` is NULL outside of one. */
struct pf_own_tile {
    const uint8_t *to, *from;
    uint32_t rows, row_bytes, row_stride;
};

#define PF_MOST_INDICES (PF_MAX_AXES + 1u)
#endif

struct pf_device {
    float accumulator[PF_TILE * PF_TILE] __attribute__((aligned(64))); /* [row][column] */
    uint16_t convert[PF_TILE * PF_TILE] __attribute__((aligned(64)));  /* the converted tile, until it is stored */
    uint8_t *vtcm;
    uint32_t vtcm_bytes;
    uint32_t overflow;     /* enum pf_overflow */
    uint32_t workers;      /* HVX workers of a parallel region */
    uint32_t ticket;       /* the last DMA ticket given out */
    struct pf_counts counts;
#if defined(PF_MODEL_CHECKED)
    uint8_t *shadow;       /* enum pf_shadow per VTCM byte */
    struct pf_transfer transfers[PF_MOST_TRANSFERS];
    uint32_t transfer_count;
    struct pf_scattered *scattered;
    size_t scattered_count, scattered_room;
    const struct pf_plan *plan;        /* NULL outside a run: ranges are then checked against the VTCM alone */
    const struct pf_request *request;
    uint8_t *twin;         /* the windows as vector stores alone leave them, while a step of an author's runs */
    struct pf_own_tile own;
    int vtcm_held, hmx_held, bias_loaded, multiplied, converted;
    uint8_t convert_shadow[PF_TILE * PF_TILE]; /* enum pf_shadow per element of the converted tile */
    struct pf_line *lines;             /* what workers touched in this parallel region; see race.h */
    size_t line_count, line_room;
    uint32_t region, worker;           /* the region's number, and the worker that runs */
    int in_region;
    const char *kernel, *position, *step;
    struct pf_index indices[PF_MOST_INDICES];
    uint32_t index_count;
    jmp_buf escape;
    char fault[512];
#else
    float *mirror;         /* f32 image of the VTCM tiles that HMX has read, 1024 floats per tile */
    uint8_t *mirror_role;  /* enum pf_mirror_role per tile */
#endif
};

#endif
