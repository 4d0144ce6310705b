/* User DMA on the phone. The engine belongs to the hardware thread that calls pf_dma_open. */
#ifndef PF_DMA_HEXAGON_H
#define PF_DMA_HEXAGON_H

#define PF_DESCRIPTOR_2D (1u << 24)
#define PF_DESCRIPTOR_DST_BYPASS (1u << 28) /* VTCM is never cached; the DDR side goes through L2 and is coherent */
#define PF_DESCRIPTOR_DONE (1u << 31)
#define PF_DESCRIPTOR_WIDE 9u

static inline int pf_dma_done(const pf_device *dev, uint32_t ticket)
{
    return (dev->ring[ticket % PF_RING].words[1] & PF_DESCRIPTOR_DONE) != 0;
}

/* Returns once every descriptor up to `ticket` has landed; polling is also what lets the engine advance. */
static inline void pf_dma_wait(pf_device *dev, uint32_t ticket)
{
    while ((int32_t)(ticket - dev->landed) > 0) {
        while (!pf_dma_done(dev, dev->landed + 1))
            (void)Q6_R_dmpoll();
        dev->landed++;
    }
    __asm__ volatile("" ::: "memory");
}

static inline struct pf_descriptor *pf_dma_fill(pf_device *dev, uint32_t ticket, uint8_t *dst, uint32_t dst_stride,
                                                const uint8_t *src, uint32_t src_stride, uint32_t width, uint32_t rows)
{
    struct pf_descriptor *descriptor = &dev->ring[ticket % PF_RING];
    descriptor->words[0] = 0;
    descriptor->words[1] = dst_stride | PF_DESCRIPTOR_2D | PF_DESCRIPTOR_DST_BYPASS;
    descriptor->words[2] = (uint32_t)(uintptr_t)src;
    descriptor->words[3] = (uint32_t)(uintptr_t)dst;
    descriptor->words[4] = PF_DESCRIPTOR_WIDE;
    descriptor->words[5] = width | (rows & 0xFFu) << 24;
    descriptor->words[6] = rows >> 8 | src_stride << 8;
    descriptor->words[7] = 0;
    /* The engine must not see the link before the descriptor's words. */
    __asm__ volatile("release(%0):at" ::"r"(descriptor) : "memory");
    return descriptor;
}

/* Starts the chain with an empty descriptor, so that every later one is linked. `scratch` is any 128 bytes of VTCM. */
static inline void pf_dma_open(pf_device *dev, uint8_t *scratch)
{
    dev->ticket = 0;
    dev->landed = (uint32_t)-1;
    Q6_dmstart_A(pf_dma_fill(dev, 0, scratch, PF_VECTOR_BYTES, scratch, PF_VECTOR_BYTES, 1, 1));
    pf_dma_wait(dev, 0);
}

static inline uint32_t pf_dma_rows(pf_device *dev, uint8_t *dst, uint32_t dst_stride, const uint8_t *src,
                                   uint32_t src_stride, uint32_t width, uint32_t rows)
{
    if (!width || !rows)
        return dev->ticket;
    uint32_t ticket = dev->ticket + 1;
    if (ticket - dev->landed >= PF_RING) /* the slot is free once the descriptor a ring ago is done */
        pf_dma_wait(dev, ticket - PF_RING + 1);
    struct pf_descriptor *tail = &dev->ring[dev->ticket % PF_RING];
    Q6_dmlink_AA(tail, pf_dma_fill(dev, ticket, dst, dst_stride, src, src_stride, width, rows));
    dev->ticket = ticket;
    return ticket;
}

#endif
