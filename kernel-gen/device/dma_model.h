/* User DMA of the models: one wide 2-D descriptor (type 9) per call.
 *
 * The checked model moves the bytes only when they are waited for, and until then nothing may touch the destination;
 * under that rule moving them at once, as the fast model does, cannot be told apart.
 */
#ifndef PF_DMA_MODEL_H
#define PF_DMA_MODEL_H

static inline void pf_move_rows(uint8_t *dst, uint32_t dst_stride, const uint8_t *src, uint32_t src_stride, uint32_t width,
                                uint32_t rows)
{
    if (dst_stride == width && src_stride == width) {
        memcpy(dst, src, (size_t)width * rows);
        return;
    }
    for (uint32_t row = 0; row < rows; row++)
        memcpy(dst + (size_t)row * dst_stride, src + (size_t)row * src_stride, width);
}

#if defined(PF_MODEL_CHECKED)

static inline void pf_dma_check_thread(pf_device *dev)
{
    pf_check(dev, !dev->in_region, "DMA is used by a worker: the engine belongs to the thread that runs the loops", NULL, 0);
}

static inline void pf_issue(pf_device *dev, const struct pf_transfer *transfer)
{
    pf_dma_check_thread(dev);
    pf_check(dev, transfer->width < 1u << 24, "DMA width does not fit its 24-bit field", NULL, transfer->width);
    pf_check(dev, transfer->src_stride < 1u << 24, "DMA source stride does not fit its 24-bit field", NULL,
             transfer->src_stride);
    pf_check(dev, transfer->dst_stride < 1u << 24, "DMA destination stride does not fit its 24-bit field", NULL,
             transfer->dst_stride);
    pf_check(dev, transfer->rows < 1u << 16, "DMA row count does not fit its 16-bit field", NULL, transfer->rows);
    pf_check(dev, dev->transfer_count < PF_MOST_TRANSFERS, "too many DMA descriptors in flight", NULL,
             dev->transfer_count);
    for (uint32_t row = 0; row < transfer->rows; row++) {
        uint8_t *dst = transfer->dst + (size_t)row * transfer->dst_stride;
        pf_check_ddr(dev, transfer->src + (size_t)row * transfer->src_stride, transfer->width, 0);
        pf_check_write(dev, dst, transfer->width);
        memset(dev->shadow + (dst - dev->vtcm), PF_IN_FLIGHT, transfer->width);
    }
    dev->transfers[dev->transfer_count++] = *transfer;
}

static inline void pf_land(pf_device *dev, const struct pf_transfer *transfer)
{
    pf_move_rows(transfer->dst, transfer->dst_stride, transfer->src, transfer->src_stride, transfer->width,
                 transfer->rows);
    for (uint32_t row = 0; row < transfer->rows; row++)
        memset(dev->shadow + (transfer->dst + (size_t)row * transfer->dst_stride - dev->vtcm), PF_WRITTEN,
               transfer->width);
}

/* Returns once every descriptor up to `ticket` has landed. */
static inline void pf_dma_wait(pf_device *dev, uint32_t ticket)
{
    pf_dma_check_thread(dev);
    pf_check(dev, ticket <= dev->ticket, "wait for a DMA ticket that was never given out", NULL, ticket);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < dev->transfer_count; i++) {
        if (dev->transfers[i].ticket <= ticket)
            pf_land(dev, &dev->transfers[i]);
        else
            dev->transfers[kept++] = dev->transfers[i];
    }
    dev->transfer_count = kept;
}

#else

static inline void pf_issue(pf_device *dev, const struct pf_transfer *transfer)
{
    pf_move_rows(transfer->dst, transfer->dst_stride, transfer->src, transfer->src_stride, transfer->width,
                 transfer->rows);
    pf_mirror_forget(dev, transfer->dst, (size_t)(transfer->rows - 1) * transfer->dst_stride + transfer->width);
}

static inline void pf_dma_wait(pf_device *dev, uint32_t ticket)
{
    (void)dev, (void)ticket;
}

#endif

/* Issues a copy of `rows` rows of `width` bytes from DDR to VTCM; returns the ticket to wait for. */
static inline uint32_t pf_dma_rows(pf_device *dev, uint8_t *dst, uint32_t dst_stride, const uint8_t *src,
                                   uint32_t src_stride, uint32_t width, uint32_t rows)
{
    if (!width || !rows)
        return dev->ticket;
    struct pf_transfer transfer = {dev->ticket + 1, dst, src, dst_stride, src_stride, width, rows};
    pf_issue(dev, &transfer);
    dev->counts.dma_descriptors++;
    dev->counts.dma_bytes += (uint64_t)width * rows;
    return ++dev->ticket;
}

#endif
